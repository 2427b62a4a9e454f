# For macOS on Apple silicon with LibTorch, on another system. scripts/check_for_macos.sh brings all that is found.
set(TRAINER_ZIG_TARGET aarch64-macos.14.0)
include(${CMAKE_CURRENT_LIST_DIR}/zig.toolchain.cmake)

# The C++ library is that of the system, which LibTorch's libraries use too: with Zig's own beside it, no
# exception that LibTorch throws would be a std::exception here. What is younger than the system is refused.
foreach(setting _LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS _LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS
                _LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -U${setting}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1"
       " -Werror=unguarded-availability-new -Wno-c2y-extensions")  # of Google Benchmark
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-nostdlib++ -Wl,-undefined,error")
endforeach()
string(APPEND CMAKE_MODULE_LINKER_FLAGS_INIT " -dynamiclib")  # Zig takes CMake's -bundle for a program
get_filename_component(tools ../build/macos_packages ABSOLUTE BASE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(CMAKE_CXX_STANDARD_LIBRARIES ${tools}/lib/libc++.tbd)
set(CMAKE_FIND_ROOT_PATH ${tools} ${tools}/torch)
