# Adds two tensors with the LibTorch that was found, so that one that does not fit is said here, in a sentence,
# and not by the linker or the program later; sets TRAINER_LIBTORCH_PARTS, the BLAS and the OpenMP runtimes of
# that process. Not for another machine.
if(CMAKE_CROSSCOMPILING OR TRAINER_LIBTORCH_PARTS)
  return()
endif()
file(WRITE ${CMAKE_BINARY_DIR}/try_libtorch.cpp [==[
#include <stdlib.h>

#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <string>

#include <ATen/Version.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

int main() {
  const at::Tensor ones = at::ones({2});
  if (ones.add(ones).sum().item<float>() != 4) return 3;
  const std::string settings = at::show_config();
  std::set<std::string> libraries;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash != std::string::npos) libraries.insert(line.substr(slash));
  }
  const std::regex openmp(".*/lib(gomp|omp|iomp5)[-.][^/]*");
  const std::regex blas(".*/lib(openblas|blas|cblas|mkl|blis|[st]?atlas|nvpl_blas)[^/]*");
  std::string openmps, blases;
  for (const std::string& library : libraries) {
    if (std::regex_match(library, openmp)) openmps += " " + library;
    if (std::regex_match(library, blas)) blases += " " + library;
  }
  std::smatch inside;
  if (blases.empty() && std::regex_search(settings, inside, std::regex("BLAS_INFO=(\\w+)"))) {
    blases = " " + inside[1].str() + (libraries.empty() ? "" : ", inside LibTorch");
  }
  std::cout << "BLAS" << blases;
  if (!openmps.empty()) std::cout << "; OpenMP" << openmps;
}
]==])
unset(libtorch_ran CACHE)
unset(libtorch_links CACHE)
set(options "")
if(NOT APPLE)
  set(options -Wl,--allow-shlib-undefined)
endif()
separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
try_run(libtorch_ran libtorch_links ${CMAKE_BINARY_DIR}/try_libtorch ${CMAKE_BINARY_DIR}/try_libtorch.cpp
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${TORCH_INCLUDE_DIRS}" COMPILE_DEFINITIONS ${flags}
        LINK_OPTIONS ${options} LINK_LIBRARIES ${TORCH_LIBRARIES} CXX_STANDARD ${CMAKE_CXX_STANDARD}
        COMPILE_OUTPUT_VARIABLE compiled RUN_OUTPUT_VARIABLE said)

set(which "LibTorch ${Torch_VERSION} in ${Torch_DIR}")
set(another "take another one: TRAINER_LIBTORCH=DIR, or TRAINER_LIBTORCH=wheel for the newest PyTorch wheel")
if(NOT libtorch_links)
  set(why "does not fit this compiler")
  if(compiled MATCHES "undefined (reference to|symbol:) [^\n]*(__cxx11|cxx11\\])")
    set(why "was built for another C++ ABI (that of wheels before 2.7) than this compiler's")
  elseif(compiled MATCHES "(fatal error: [^\n]*|undefined (reference|symbol)[^\n]*|error: [^\n]*)")
    set(why "does not fit this compiler (${CMAKE_MATCH_1})")
  endif()
  message(FATAL_ERROR "${which} ${why}: ${another}")
elseif(said MATCHES "error while loading shared libraries: ([^:\n]*)")
  message(FATAL_ERROR "${which} needs ${CMAKE_MATCH_1}, which is not found: install what brings it (of CUDA: pip install "
                      "nvidia-cuda-runtime nvidia-cuda-cupti), or ${another}")
elseif(NOT libtorch_ran STREQUAL "0")
  string(REGEX REPLACE "\n.*" "" said "status ${libtorch_ran} ${said}")
  string(STRIP "${said}" said)
  message(FATAL_ERROR "${which} cannot add two tensors here (${said}): ${another}")
endif()
if(said MATCHES "OpenMP ([^ \n]+ [^\n]+)")
  message(WARNING "${which} brings two OpenMP runtimes into one process (${CMAKE_MATCH_1}), which can end it or make "
                  "it slow: remove one of the packages that they are from, or ${another}")
endif()
string(REGEX REPLACE "^.*(BLAS[^\n]*).*$" "\\1" said "${said}")
set(TRAINER_LIBTORCH_PARTS "${said}" CACHE INTERNAL "")
