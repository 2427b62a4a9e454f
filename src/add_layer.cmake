# add_layer(NAME [SOURCES FILE...] [COLD FILE...] [SEES LAYER...] [OPENS LAYER...]
#           [PACKAGES TARGET...])
#
# One folder of src/ as the object library layer_NAME. The compiler finds the headers of the layer
# itself, of those in SEES and of those that they see, and no others: each layer has an include root
# of its own in the build tree, with links to include/trainer/NAME and src/NAME. An include of any
# other layer, or of another layer's private header, does not compile.
#   SEES         layers whose public headers it includes; a shared library of src/CMakeLists.txt
#                links their objects
#   OPENS        layers whose public headers it includes, and whose library it opens at run time
#   PACKAGES     what it needs beside fmt, spdlog and nlohmann_json
#   COLD         sources where a run spends no time (settings, messages, decisions, files of a few
#                kilobytes), with ${cold_flags}: compiles in half the time
function(add_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;COLD;SEES;OPENS;PACKAGES" ${ARGN})
  set(target layer_${name})
  add_library(${target} OBJECT ${arg_SOURCES} ${arg_COLD})

  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root}/public/trainer ${root}/private)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${root}/private/${name} SYMBOLIC)
  if(EXISTS ${PROJECT_SOURCE_DIR}/include/trainer/${name})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/trainer/${name} ${root}/public/trainer/${name}
         SYMBOLIC)
  endif()
  target_include_directories(${target} PUBLIC ${root}/public PRIVATE ${root}/private)
  foreach(seen IN LISTS arg_SEES)
    target_include_directories(${target} PUBLIC
                               $<TARGET_PROPERTY:layer_${seen},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  foreach(opened IN LISTS arg_OPENS)
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/layers/${opened}/public)
  endforeach()

  target_link_libraries(${target} PRIVATE trainer_options fmt::fmt spdlog::spdlog
                                          nlohmann_json::nlohmann_json ${arg_PACKAGES})
  if(arg_COLD)
    set_source_files_properties(${arg_COLD} PROPERTIES
                                COMPILE_OPTIONS "$<$<CONFIG:Release>:${cold_flags}>")
  endif()
endfunction()

# precompile_headers("LAYER;..." HEADER...): compiled once, with the flags of the first layer.
function(precompile_headers layers)
  list(POP_FRONT layers first)
  target_precompile_headers(layer_${first} PRIVATE ${ARGN})
  foreach(layer IN LISTS layers)
    target_precompile_headers(layer_${layer} REUSE_FROM layer_${first})
  endforeach()
endfunction()
