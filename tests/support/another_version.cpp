// SPDX-License-Identifier: Apache-2.0
// An engine library and an ONNX library of another version of this program, for the messages about
// it.

#include "trainer/onnx_export/api.h"
#include "trainer/train/engine/api.h"

namespace {

/// A table of functions of which there are none.
template <typename Api>
Api old_api() {
  Api api{};
  api.version = "0.0.9";
  return api;
}

}  // namespace

#ifdef LACKS_A_FUNCTION
void trainer_function_of_another_version();  // in no library
#endif

const trainer::engine::Api* trainer_engine_api() {
#ifdef LACKS_A_FUNCTION
  trainer_function_of_another_version();
#endif
  static const auto api = old_api<trainer::engine::Api>();
  return &api;
}

const trainer::onnx_export::Api* trainer_onnx_api() {
  static const auto api = old_api<trainer::onnx_export::Api>();
  return &api;
}
