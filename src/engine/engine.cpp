// SPDX-License-Identifier: Apache-2.0
#include "trainer/engine/engine.h"

#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include <c10/util/Exception.h>

#include "trainer/core/error.h"
#include "trainer/device/memory.h"
#include "trainer/engine/api.h"

#include "engine/train_run.h"

namespace trainer::engine {
namespace {

Error out_of_memory(const std::string& what) {
  return {ErrorKind::kOutOfMemory, what + "; use a smaller model, batch size or data file"};
}

}  // namespace

TrainReport train(const TrainRequest& request) {
  try {
    return run_training(request);
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& e) {
    const std::string message = e.what_without_backtrace();
    if (device::is_out_of_memory(e)) throw out_of_memory("LibTorch: " + message);
    throw Error(ErrorKind::kRuntime, "LibTorch: " + message);
  } catch (const std::bad_alloc&) {
    throw out_of_memory("out of memory");
  } catch (const std::filesystem::filesystem_error& e) {
    throw Error(ErrorKind::kFileSystem, e.what());
  } catch (const std::exception& e) {
    throw Error(ErrorKind::kRuntime, e.what());
  }
}

}  // namespace trainer::engine

const trainer::engine::Api* trainer_engine_api() {
  static const trainer::engine::Api api{trainer::engine::train};
  return &api;
}
