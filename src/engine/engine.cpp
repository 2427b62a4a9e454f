// SPDX-License-Identifier: Apache-2.0
#include "trainer/engine/engine.h"

#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/device/memory.h"
#include "trainer/engine/api.h"

#include "engine/batch_search_run.h"
#include "engine/torchscript.h"
#include "engine/train_run.h"

namespace trainer::engine {
namespace {

Error out_of_memory(const std::string& what) {
  return {ErrorKind::kOutOfMemory, what + "; use a smaller model, batch size or data file"};
}

// The exceptions of LibTorch and of the system as Error.
template <class Run>
auto translated(const Run& run) {
  try {
    return run();
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
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) {
      throw Error(ErrorKind::kRuntime, e.what());
    }
    // Its stack, most likely.
    throw Error(ErrorKind::kOutOfMemory,
                fmt::format("no thread can be started ({}); raise the limit of memory or of "
                            "processes (ulimit -v, ulimit -u)",
                            e.what()));
  } catch (const std::exception& e) {
    throw Error(ErrorKind::kRuntime, e.what());
  }
}

}  // namespace

TrainReport train(const TrainRequest& request) {
  return translated([&] { return run_training(request); });
}

BatchSearchReport find_batch(const BatchSearchRequest& request) {
  return translated([&] { return run_batch_search(request); });
}

apply::ExportReport export_torchscript(const apply::Model& model,
                                       const apply::ExportOptions& options,
                                       const std::filesystem::path& path) {
  return translated([&] { return write_torchscript(model, options, path); });
}

}  // namespace trainer::engine

const trainer::engine::Api* trainer_engine_api() {
  static const trainer::engine::Api api{trainer::engine::train, trainer::engine::find_batch,
                                        trainer::engine::export_torchscript};
  return &api;
}
