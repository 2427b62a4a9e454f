# Finds LibTorch and sets TORCH_INCLUDE_DIRS, TORCH_LIBRARIES, TORCH_CXX_FLAGS and Torch_VERSION.
#   TRAINER_LIBTORCH=DIR  the folder "torch" of an installed or unpacked PyTorch wheel
#   otherwise             find_package(Torch): CMAKE_PREFIX_PATH, Torch_DIR, the system
#
# A wheel is read here, not by its own CMake files: these want the whole CUDA toolkit, where the headers
# of the wheels beside it (nvidia/*/include) do, or, for a CPU, nothing. Its include folder also holds
# other packages, of other versions than the libraries that this project links. A folder of links leaves
# these out.
set(TRAINER_LIBTORCH "" CACHE PATH "Folder of a PyTorch wheel's LibTorch (site-packages/torch)")
if(NOT TRAINER_LIBTORCH)
  find_package(Torch REQUIRED)
  return()
endif()

if(NOT EXISTS ${TRAINER_LIBTORCH}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "TRAINER_LIBTORCH=${TRAINER_LIBTORCH} has no lib/libtorch_cpu.so: "
                      "name the folder \"torch\" of a PyTorch wheel")
endif()
file(STRINGS ${TRAINER_LIBTORCH}/version.py Torch_VERSION REGEX "^__version__")
string(REGEX REPLACE "^[^0-9]*([0-9.]+).*" "\\1" Torch_VERSION "${Torch_VERSION}")
set(Torch_DIR ${TRAINER_LIBTORCH})
set(TORCH_LIBRARY ${TRAINER_LIBTORCH}/lib/libtorch_cpu.so)
set(TORCH_CXX_FLAGS -D_GLIBCXX_USE_CXX11_ABI=1)

set(libtorch_headers ${CMAKE_BINARY_DIR}/libtorch)
file(MAKE_DIRECTORY ${libtorch_headers})
foreach(name ATen c10 caffe2 torch kineto libshm.h)
  file(CREATE_LINK ${TRAINER_LIBTORCH}/include/${name} ${libtorch_headers}/${name} SYMBOLIC)
endforeach()
set(TORCH_INCLUDE_DIRS ${libtorch_headers} ${libtorch_headers}/torch/csrc/api/include)

# The libraries have a Gloo inside, whose headers are in no wheel; those of another version, as Debian's,
# compile and would call it wrongly.
set(TRAINER_GLOO "" CACHE PATH "Folder with the headers of the Gloo that is inside TRAINER_LIBTORCH")
if(TRAINER_GLOO)
  list(PREPEND TORCH_INCLUDE_DIRS ${TRAINER_GLOO})
else()
  set(TRAINER_HAS_GLOO OFF CACHE INTERNAL "")
endif()

# For CUDA where the headers of its runtime are beside the wheel.
set(libtorch_parts torch_cpu c10)
file(GLOB cuda_headers ${TRAINER_LIBTORCH}/../nvidia/*/include)
find_library(TRAINER_CUDART NAMES libcudart.so.13 libcudart.so.12 NO_DEFAULT_PATH
             PATHS ${TRAINER_LIBTORCH}/../nvidia/cu13/lib
                   ${TRAINER_LIBTORCH}/../nvidia/cuda_runtime/lib)
if(cuda_headers AND TRAINER_CUDART AND EXISTS ${TRAINER_LIBTORCH}/lib/libtorch_cuda.so)
  list(PREPEND libtorch_parts torch_cuda c10_cuda)
  list(APPEND TORCH_INCLUDE_DIRS ${cuda_headers})
endif()
set(TORCH_LIBRARIES "")
foreach(part IN LISTS libtorch_parts)
  add_library(${part} SHARED IMPORTED)
  set_target_properties(${part} PROPERTIES IMPORTED_LOCATION ${TRAINER_LIBTORCH}/lib/lib${part}.so)
  list(APPEND TORCH_LIBRARIES ${part})
endforeach()
if(TARGET torch_cuda)
  list(APPEND TORCH_LIBRARIES ${TRAINER_CUDART})
endif()
# The wheel's libraries find those of the wheels beside it when the program starts; the linker need not.
add_link_options(-Wl,--allow-shlib-undefined)
