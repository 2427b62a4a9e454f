# TRAINER_STATIC: bin/trainer is one file that needs the C library only, without LibTorch. The packages
# are linked as archives; fmt and spdlog, of which Debian has none, are compiled in from their headers.
if(TRAINER_ENGINE)
  message(FATAL_ERROR "TRAINER_STATIC is for a program without LibTorch: -DTRAINER_ENGINE=OFF")
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
find_package(fmt REQUIRED)
set_property(TARGET fmt::fmt PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
find_package(spdlog REQUIRED)
set_property(TARGET spdlog::spdlog PROPERTY INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
find_package(yaml-cpp REQUIRED)
find_library(YAML_CPP_ARCHIVE yaml-cpp REQUIRED)
set(yaml_target yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(yaml_target yaml-cpp::yaml-cpp)
endif()
set_property(TARGET ${yaml_target} PROPERTY IMPORTED_LOCATION_RELEASE ${YAML_CPP_ARCHIVE})

# Leaves out the shared libraries of fmt and spdlog, of which nothing is used.
add_link_options(-Wl,--as-needed -static-libstdc++ -static-libgcc)
