# For TRAINER_ZIG_TARGET, any system on any other: Zig is Clang with the headers of each C library of Linux and
# of macOS, and stubs of them to link with. scripts/source_packages.sh brings it and all else that is found here.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRAINER_ZIG_TARGET)
get_filename_component(zig ../build/zig ABSOLUTE BASE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(tools ${zig}/${TRAINER_ZIG_TARGET})
string(REGEX MATCH "^[^-]*" CMAKE_SYSTEM_PROCESSOR ${TRAINER_ZIG_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
if(TRAINER_ZIG_TARGET MATCHES macos)
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_SYSTEM_PROCESSOR arm64)
  set(CMAKE_SYSTEM_VERSION 23)  # macOS 14
  set(ENV{PATH} ${zig}/bin:$ENV{PATH})  # CMake asks sw_vers, a program of macOS, whether there is @rpath
endif()

set(compiler ${zig}/ziglang/zig)
set(CMAKE_C_COMPILER ${compiler} cc -target ${TRAINER_ZIG_TARGET})
set(CMAKE_CXX_COMPILER ${compiler} c++ -target ${TRAINER_ZIG_TARGET})
file(GLOB llvm /usr/lib/llvm-*/bin)
foreach(tool ar ranlib install_name_tool)
  string(TOUPPER CMAKE_${tool} variable)
  string(REPLACE _ - name llvm-${tool})
  find_program(${variable} ${name} HINTS ${llvm} REQUIRED)
endforeach()
# Zig adds both where nothing is optimised.
set(CMAKE_C_FLAGS_INIT "-g0 -fno-sanitize=undefined")
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(TRAINER_NEON_BF16_FLAGS -mcpu=generic+v8_2a+bf16 CACHE STRING "Zig's words for -march=armv8.2-a+bf16")

set(CMAKE_FIND_ROOT_PATH ${tools})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
