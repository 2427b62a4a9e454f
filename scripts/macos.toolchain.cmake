# For macOS on Apple silicon, on another system: Zig is Clang with the headers of macOS and a stub of its
# libSystem. scripts/check_for_macos.sh brings it, and all else that is found here.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 23)  # macOS 14
set(CMAKE_SYSTEM_PROCESSOR arm64)

set(tools ${CMAKE_CURRENT_LIST_DIR}/../build/macos_packages)
set(ENV{PATH} ${tools}/bin:$ENV{PATH})  # CMake asks sw_vers, a program of macOS, whether there is @rpath
set(compiler ${tools}/python/ziglang/zig)
set(target -target aarch64-macos.14.0)
set(CMAKE_C_COMPILER ${compiler} cc ${target})
set(CMAKE_CXX_COMPILER ${compiler} c++ ${target})
file(GLOB llvm /usr/lib/llvm-*/bin)
foreach(tool ar ranlib install_name_tool)
  string(TOUPPER CMAKE_${tool} variable)
  string(REPLACE _ - name llvm-${tool})
  find_program(${variable} ${name} HINTS ${llvm} REQUIRED)
endforeach()

# The C++ library is that of the system, which LibTorch's libraries use too: with Zig's own beside it, no
# exception that LibTorch throws would be a std::exception here. What is younger than the system is refused.
set(CMAKE_CXX_FLAGS_INIT "")
foreach(setting _LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS _LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS
                _LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -U${setting}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1"
       " -Werror=unguarded-availability-new -Wno-c2y-extensions")  # of Google Benchmark
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-nostdlib++ -Wl,-undefined,error")
endforeach()
set(CMAKE_CXX_STANDARD_LIBRARIES ${tools}/lib/libc++.tbd)
# Zig adds both where nothing is optimised.
string(APPEND CMAKE_CXX_FLAGS_INIT " -g0 -fno-sanitize=undefined")

set(CMAKE_FIND_ROOT_PATH ${tools} ${tools}/python/torch)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
