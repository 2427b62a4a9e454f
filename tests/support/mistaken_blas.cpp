// SPDX-License-Identifier: Apache-2.0
// A libblas.so.3 that takes every CPU for a Prescott, as OpenBLAS does with those that are newer
// than itself. It chooses when it is loaded; the functions of BLAS are those of the real OpenBLAS,
// to which it is linked.
#include <cstdlib>

namespace {

const char* chosen() {
  const char* wanted = std::getenv("OPENBLAS_CORETYPE");
  return wanted != nullptr ? wanted : "Prescott";
}

const char* const kCore = chosen();

}  // namespace

extern "C" {

const char* openblas_get_corename() { return kCore; }
const char* openblas_get_config() {
  return "OpenBLAS 0.3.21 DYNAMIC_ARCH USE_OPENMP MAX_THREADS=64";
}
}
