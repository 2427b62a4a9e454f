// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/engine/engine.h"

#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/torch/device/memory.h"
#include "trainer/train/engine/api.h"

#include "train/engine/torchscript.h"
#include "train/engine/train_run.h"
#include "train/engine/trial_runs.h"

namespace trainer::engine {
namespace {

// Shortens the message of LibTorch's allocator, which names a line of its source code.
Error memory_error(const std::string& message) {
  const std::string before = "tried to allocate ";
  const size_t found = message.find(before);
  const size_t begin = found == std::string::npos ? message.size() : found + before.size();
  const auto size = parse_int(message.substr(begin, message.find(' ', begin) - begin));
  if (!size) return out_of_memory("LibTorch: " + message);
  return out_of_memory(fmt::format("out of memory: cannot allocate another {}",
                                   human_bytes(static_cast<uint64_t>(*size))));
}

// Converts exceptions of LibTorch and of the standard library to Error.
template <class Run>
auto translate_errors(const Run& run) {
  try {
    return run();
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& e) {
    const std::string message = e.what_without_backtrace();
    if (device::is_out_of_memory(e)) throw memory_error(message);
    throw Error(ErrorKind::kRuntime, "LibTorch: " + message);
  } catch (const std::exception& e) {
    throw as_error(e);
  }
}

}  // namespace

TrainReport train(const TrainRequest& request) {
  return translate_errors([&] { return run_training(request); });
}

BatchSearchReport find_batch(const BatchSearchRequest& request) {
  return translate_errors([&] { return run_batch_search(request); });
}

ProfileReport profile(const ProfileRequest& request) {
  return translate_errors([&] { return run_profile(request); });
}

doctor::EngineFacts check_devices() {
  return translate_errors([] { return run_device_check(); });
}

apply::ExportReport export_torchscript(const apply::Model& model,
                                       const apply::ExportOptions& options,
                                       const std::filesystem::path& path) {
  return translate_errors([&] { return write_torchscript(model, options, path); });
}

}  // namespace trainer::engine

const trainer::engine::Api* trainer_engine_api() {
  static const trainer::engine::Api api{TRAINER_VERSION,
                                        trainer::engine::train,
                                        trainer::engine::find_batch,
                                        trainer::engine::profile,
                                        trainer::engine::check_devices,
                                        trainer::engine::export_torchscript};
  return &api;
}
