# find_package(trainer): the target trainer::core, with the headers of include/trainer.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(nlohmann_json)

# Not by way of /lib, which is a link to /usr/lib.
get_filename_component(trainer_prefix ${CMAKE_CURRENT_LIST_FILE} REALPATH)
get_filename_component(trainer_prefix ${trainer_prefix}/../../../.. ABSOLUTE)
if(NOT TARGET trainer::core)
  add_library(trainer::core SHARED IMPORTED)
  set_target_properties(trainer::core PROPERTIES
    IMPORTED_LOCATION ${trainer_prefix}/lib/trainer/lib/libtrainer_core.so
    IMPORTED_SONAME libtrainer_core.so
    INTERFACE_INCLUDE_DIRECTORIES ${trainer_prefix}/include
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "fmt::fmt;nlohmann_json::nlohmann_json")
endif()
unset(trainer_prefix)
