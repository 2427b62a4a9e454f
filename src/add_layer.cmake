# add_layer(NAME [SOURCES FILE...] [COLD FILE...] [SEES LAYER...] [OPENS LAYER...]
#           [PACKAGES TARGET...])
#
# One folder of src/ as a layer: the interface library layer_NAME has the headers that others see, its
# property TRAINER_OBJECTS names the object libraries with the code. The compiler finds the headers of
# the layer itself, of those in SEES and of those that they see, and no others: each layer has an
# include root of its own in the build tree, with links to include/trainer/NAME and src/NAME. An
# include of any other layer, or of another layer's private header, does not compile.
#   SEES         layers whose public headers it includes; a shared library of src/CMakeLists.txt
#                links their objects
#   OPENS        layers whose public headers it includes, and whose library it opens at run time
#   PACKAGES     what it needs beside fmt, spdlog and nlohmann_json
#   COLD         sources where a run spends no time (settings, messages, decisions, files of a few
#                kilobytes), with ${cold_flags}: compiles in half the time
function(add_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;COLD;SEES;OPENS;PACKAGES" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  link_headers(${name})
  list(TRANSFORM arg_SEES PREPEND layer_)
  add_library(layer_${name} INTERFACE)
  target_include_directories(layer_${name} INTERFACE ${root}/public)
  target_link_libraries(layer_${name} INTERFACE ${arg_SEES})

  foreach(part SOURCES COLD)
    if(arg_${part})
      string(TOLOWER layer_${name}_${part} target)
      add_library(${target} OBJECT ${arg_${part}})
      target_include_directories(${target} PRIVATE ${root}/private)
      foreach(opened IN LISTS arg_OPENS)
        link_headers(${opened})  # its library may be left out of this build
        target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/layers/${opened}/public)
      endforeach()
      target_link_libraries(${target} PRIVATE layer_${name} trainer_options trainer_hardening fmt::fmt
                                              spdlog::spdlog nlohmann_json::nlohmann_json ${arg_PACKAGES})
      set_property(TARGET layer_${name} APPEND PROPERTY TRAINER_OBJECTS ${target})
    endif()
  endforeach()
  if(arg_COLD)
    target_compile_options(layer_${name}_cold PRIVATE "$<$<CONFIG:Release>:${cold_flags}>")
  endif()
endfunction()

# link_headers(NAME): the include root of a layer, a folder of links.
function(link_headers name)
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root}/public/trainer ${root}/private)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${root}/private/${name} SYMBOLIC)
  if(EXISTS ${PROJECT_SOURCE_DIR}/include/trainer/${name})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/trainer/${name} ${root}/public/trainer/${name}
         SYMBOLIC)
  endif()
endfunction()

# layer_objects(VARIABLE LAYER...): the object libraries of these layers.
function(layer_objects variable)
  set(objects "")
  foreach(layer IN LISTS ARGN)
    get_target_property(of_layer layer_${layer} TRAINER_OBJECTS)
    list(APPEND objects ${of_layer})
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# precompile_headers("OBJECTS;..." HEADER...): compiled once, with the flags of SOURCES: those of COLD
# can use that, while GCC ends with an internal error the other way round.
function(precompile_headers objects)
  set(first ${objects})
  list(FILTER first INCLUDE REGEX "_sources$")
  list(GET first 0 first)
  list(REMOVE_ITEM objects ${first})
  target_precompile_headers(${first} PRIVATE ${ARGN})
  foreach(object IN LISTS objects)
    target_precompile_headers(${object} REUSE_FROM ${first})
  endforeach()
endfunction()
