# Finds LibTorch and sets TORCH_INCLUDE_DIRS, TORCH_LIBRARIES, TORCH_LIBRARY, TORCH_CXX_FLAGS, Torch_VERSION,
# Torch_DIR, and TRAINER_LIBTORCH_ORIGIN, which says where it comes from: the first of these that has one.
#   -DTRAINER_LIBTORCH=DIR    a folder with lib/ and include/: "torch" of a PyTorch wheel, an unpacked
#                             LibTorch, a conda environment
#   -DTRAINER_LIBTORCH=wheel  the newest wheel, which scripts/get_libtorch.sh brings into build/libtorch
#   Torch_DIR, CMAKE_PREFIX_PATH          as find_package(Torch) takes them
#   TRAINER_LIBTORCH in the environment   as -DTRAINER_LIBTORCH
#   an active virtual or conda environment, Homebrew, the system
#   the wheel that a Python of the PATH would import (it tells its folders, and imports nothing)
# A build folder keeps what was found, until TRAINER_LIBTORCH or Torch_DIR is set anew.
set(TRAINER_LIBTORCH "" CACHE STRING "Folder with the lib/ and include/ of a LibTorch, or \"wheel\"")
set(torch_cpu lib/libtorch_cpu${CMAKE_SHARED_LIBRARY_SUFFIX})

# These do nothing if a LibTorch has been found. take_folder(ORIGIN [DIR...]): takes the first that has one.
macro(take_folder origin)
  foreach(folder ${ARGN})
    if(NOT TRAINER_LIBTORCH AND NOT Torch_FOUND AND EXISTS ${folder}/${torch_cpu}
       AND EXISTS ${folder}/include/ATen)
      set_property(CACHE TRAINER_LIBTORCH PROPERTY VALUE ${folder})
      set(TRAINER_LIBTORCH_ORIGIN "${origin}" CACHE INTERNAL "")
    endif()
  endforeach()
endmacro()

# take_package(ORIGIN ARGUMENT...): takes what find_package(Torch ARGUMENT...) finds.
macro(take_package origin)
  if(NOT TRAINER_LIBTORCH AND NOT Torch_FOUND)
    find_package(Torch QUIET ${ARGN})
    if(Torch_FOUND)
      set(TRAINER_LIBTORCH_ORIGIN "${origin}" CACHE INTERNAL "")
    endif()
  endif()
endmacro()

# python_folders(VARIABLE): where the Pythons of the PATH would look for a package named torch.
function(python_folders variable)
  set(found "")
  file(TO_CMAKE_PATH "$ENV{PATH}" folders)
  foreach(folder IN LISTS folders)
    foreach(name python3 python)
      if(EXISTS ${folder}/${name})
        execute_process(COMMAND ${folder}/${name} -c "import sys; print(';'.join(sys.path))" TIMEOUT 20
                        OUTPUT_VARIABLE paths OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        list(APPEND found ${paths})
      endif()
    endforeach()
  endforeach()
  list(TRANSFORM found APPEND /torch)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

if(NOT "${TRAINER_LIBTORCH}|${Torch_DIR}" STREQUAL "${TRAINER_LIBTORCH_KEPT}")
  unset(TRAINER_LIBTORCH_ORIGIN CACHE)
endif()
if(TRAINER_LIBTORCH AND NOT TRAINER_LIBTORCH_ORIGIN)
  set(TRAINER_LIBTORCH_ORIGIN TRAINER_LIBTORCH CACHE INTERNAL "")
endif()
if(NOT TRAINER_LIBTORCH_ORIGIN)
  take_package("Torch_DIR or CMAKE_PREFIX_PATH" NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH
               NO_CMAKE_PACKAGE_REGISTRY NO_CMAKE_SYSTEM_PACKAGE_REGISTRY)
  if(NOT CMAKE_CROSSCOMPILING AND NOT Torch_FOUND)
    if(NOT "$ENV{TRAINER_LIBTORCH}" STREQUAL "")
      set_property(CACHE TRAINER_LIBTORCH PROPERTY VALUE $ENV{TRAINER_LIBTORCH})
      set(TRAINER_LIBTORCH_ORIGIN "TRAINER_LIBTORCH in the environment" CACHE INTERNAL "")
    endif()
    foreach(variable VIRTUAL_ENV CONDA_PREFIX)
      if(NOT "$ENV{${variable}}" STREQUAL "")
        file(GLOB packages $ENV{${variable}}/lib/python3*/site-packages/torch)
        take_folder("the environment that ${variable} names" $ENV{${variable}} ${packages})
      endif()
    endforeach()
    foreach(prefix $ENV{HOMEBREW_PREFIX} /opt/homebrew /usr/local /home/linuxbrew/.linuxbrew)
      take_package("Homebrew" NO_DEFAULT_PATH PATHS ${prefix}/opt/pytorch)
    endforeach()
  endif()
  take_package("the system")
  if(NOT CMAKE_CROSSCOMPILING AND NOT TRAINER_LIBTORCH AND NOT Torch_FOUND)
    python_folders(folders)
    take_folder("a wheel that Python would import" ${folders})
  endif()
endif()
if(NOT TRAINER_LIBTORCH)
  take_package("${TRAINER_LIBTORCH_ORIGIN}")
endif()
set(TRAINER_LIBTORCH_KEPT "${TRAINER_LIBTORCH}|${Torch_DIR}" CACHE INTERNAL "")

if(NOT TRAINER_LIBTORCH AND NOT Torch_FOUND)
  message(FATAL_ERROR "There is no LibTorch here: install one (Debian, Ubuntu: libtorch-dev; macOS: brew install "
                      "pytorch), name its folder with -DTRAINER_LIBTORCH=DIR, or have the newest PyTorch wheel brought "
                      "with -DTRAINER_LIBTORCH=wheel. -DTRAINER_ENGINE=OFF builds what needs none.")
endif()

# A folder is read here, not by its own CMake files: those of a wheel want the whole CUDA toolkit, where the
# headers of the wheels beside it (nvidia/*/include) do, or, for a CPU, nothing.
if(TRAINER_LIBTORCH)
  get_filename_component(libtorch ${TRAINER_LIBTORCH} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(TRAINER_LIBTORCH STREQUAL "wheel")
    set(libtorch ${PROJECT_SOURCE_DIR}/build/libtorch/torch)
    if(NOT EXISTS ${libtorch})
      message(STATUS "Installing the newest PyTorch wheel in build/libtorch")
      execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/get_libtorch.sh RESULT_VARIABLE failed
                      ERROR_VARIABLE said ERROR_STRIP_TRAILING_WHITESPACE)
      if(failed)
        string(REGEX REPLACE "^.*\n" "" said "${said}")
        message(FATAL_ERROR "TRAINER_LIBTORCH=wheel: ${said}")
      endif()
    endif()
  endif()
  if(NOT EXISTS ${libtorch}/${torch_cpu} OR NOT EXISTS ${libtorch}/include/ATen)
    message(FATAL_ERROR "TRAINER_LIBTORCH=${TRAINER_LIBTORCH}: expected a folder with ${torch_cpu} and include/ATen "
                        "(torch of a PyTorch wheel, an unpacked LibTorch, a conda environment) or \"wheel\"")
  endif()
  foreach(file include/torch/csrc/api/include/torch/version.h include/torch/headeronly/version.h version.py)
    if(EXISTS ${libtorch}/${file})
      file(STRINGS ${libtorch}/${file} line REGEX "[\"'][0-9]+\\.[0-9]+\\.[0-9]+" LIMIT_COUNT 1)
      if(line MATCHES "([0-9]+\\.[0-9]+\\.[0-9]+)")
        set(Torch_VERSION ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
  unset(Torch_DIR CACHE)
  set(Torch_DIR ${libtorch})
  set(TORCH_LIBRARY ${libtorch}/${torch_cpu})
  set(TORCH_CXX_FLAGS -D_GLIBCXX_USE_CXX11_ABI=1)
  set(TRAINER_LIBTORCH_KEPT "${TRAINER_LIBTORCH}|" CACHE INTERNAL "")
endif()
if(Torch_VERSION VERSION_LESS 1.13)
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} in ${Torch_DIR} is too old: expected 1.13 or newer")
endif()
# What was found out about another LibTorch.
set(libtorch_key "${TORCH_LIBRARY} ${Torch_VERSION}")
if(NOT libtorch_key STREQUAL "${TRAINER_LIBTORCH_KEY}")
  foreach(variable TRAINER_HAS_GLOO TRAINER_HAS_NCCL TRAINER_CUDART TRAINER_CUBLAS TRAINER_LIBTORCH_PARTS)
    unset(${variable} CACHE)
  endforeach()
  set(TRAINER_LIBTORCH_KEY ${libtorch_key} CACHE INTERNAL "")
endif()
if(NOT TRAINER_LIBTORCH)
  return()
endif()

# The include folder also holds other packages, of other versions than the libraries that this project links. A
# folder of links leaves these out; another version has another one, so that all is compiled again.
set(libtorch_headers ${CMAKE_BINARY_DIR}/libtorch-${Torch_VERSION})
file(MAKE_DIRECTORY ${libtorch_headers})
foreach(name ATen c10 caffe2 torch kineto libshm.h)
  file(REMOVE ${libtorch_headers}/${name})
  if(EXISTS ${libtorch}/include/${name})
    file(CREATE_LINK ${libtorch}/include/${name} ${libtorch_headers}/${name} SYMBOLIC)
  endif()
endforeach()
set(TORCH_INCLUDE_DIRS ${libtorch_headers} ${libtorch_headers}/torch/csrc/api/include)

# The libraries have a Gloo inside, whose headers are in no wheel; those of another version, as Debian's, compile
# and would call it wrongly. ProcessGroupGloo, by which alone it is used, does with the names of its classes.
file(CONFIGURE OUTPUT ${libtorch_headers}/gloo/context.h CONTENT "#pragma once
#include <chrono>
#include <string>
#include <vector>
namespace gloo {
class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};
}
namespace gloo::transport { class Device; class UnboundBuffer; }
namespace gloo::rendezvous {
class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string&, const std::vector<char>&) = 0;
  virtual std::vector<char> get(const std::string&) = 0;
  virtual void wait(const std::vector<std::string>&) = 0;
  virtual void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) = 0;
};
}
")
foreach(header algorithm common/error rendezvous/store transport/device)
  file(CONFIGURE OUTPUT ${libtorch_headers}/gloo/${header}.h CONTENT "#include <gloo/context.h>\n")
endforeach()

# For CUDA where the headers of its wheels are beside it.
set(libtorch_parts torch_cpu c10)
file(GLOB cuda_headers ${libtorch}/../nvidia/*/include)
find_path(TRAINER_CUBLAS cublas_v2.h NO_DEFAULT_PATH PATHS ${cuda_headers})
find_library(TRAINER_CUDART NAMES libcudart.so.13 libcudart.so.12 NO_DEFAULT_PATH
             PATHS ${libtorch}/../nvidia/cu13/lib ${libtorch}/../nvidia/cuda_runtime/lib)
if(TRAINER_CUBLAS AND TRAINER_CUDART AND EXISTS ${libtorch}/lib/libtorch_cuda.so)
  list(PREPEND libtorch_parts torch_cuda c10_cuda)
  list(APPEND TORCH_INCLUDE_DIRS ${cuda_headers})
endif()
set(TORCH_LIBRARIES "")
foreach(part IN LISTS libtorch_parts)
  add_library(${part} SHARED IMPORTED)
  set_target_properties(${part} PROPERTIES IMPORTED_LOCATION
                        ${libtorch}/lib/lib${part}${CMAKE_SHARED_LIBRARY_SUFFIX})
  list(APPEND TORCH_LIBRARIES ${part})
endforeach()
set(TRAINER_LIBTORCH_RUNPATH "" CACHE STRING "Where the engine finds LibTorch when it runs, if elsewhere")
set(libtorch_folders ${libtorch}/lib)
if(TARGET torch_cuda)
  list(APPEND TORCH_LIBRARIES ${TRAINER_CUDART})
  get_filename_component(cudart_folder ${TRAINER_CUDART} DIRECTORY)
  list(APPEND libtorch_folders ${cudart_folder})
endif()
if(TRAINER_LIBTORCH_RUNPATH)
  set(libtorch_folders ${TRAINER_LIBTORCH_RUNPATH})
endif()
# CMake leaves folders inside the project out, as build/libtorch is.
list(APPEND CMAKE_INSTALL_RPATH ${libtorch_folders})
# The wheel's libraries find those of the wheels beside it when the program starts; the linker need not.
if(NOT APPLE)
  add_link_options(-Wl,--allow-shlib-undefined)
endif()
