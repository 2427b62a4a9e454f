// SPDX-License-Identifier: Apache-2.0
#include "cli/find_batch_command.h"

#include <cstdio>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"

#include "cli/engine_library.h"
#include "cli/train_command.h"

namespace trainer::cli {
namespace {

std::string largest_text(const engine::BatchSearchReport& report, int64_t most_rows) {
  if (report.too_large > 0) {
    return fmt::format("{} rows; {} do not fit", with_thousands(report.largest),
                       with_thousands(report.too_large));
  }
  return fmt::format("{} rows, {}", with_thousands(report.largest),
                     most_rows > 0 ? "the most that were to be tried" : "all of the training part");
}

}  // namespace

int find_batch_command(const Arguments& arguments) {
  if (arguments.config_files.empty() && arguments.overrides.empty()) {
    throw Error(ErrorKind::kUsage,
                "find-batch: expected a configuration, got nothing; try trainer find-batch "
                "--config configs/train.yaml");
  }
  engine::BatchSearchRequest request;
  request.config = resolve(arguments, checkpoint::Purpose::kLook).config;
  request.most = arguments.most_rows;
  fmt::print("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n", "batch", "threads", "step", "samples/s",
             "memory");
  request.progress = [](const engine::BatchTried& tried) {
    fmt::print("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n", with_thousands(tried.batch_size),
               tried.num_threads, human_duration(tried.step_seconds),
               with_thousands(static_cast<int64_t>(tried.samples_per_second)),
               human_bytes(static_cast<uint64_t>(tried.memory_bytes)));
    std::fflush(stdout);
  };
  const engine::BatchSearchReport report = engine_library().find_batch(request);
  fmt::print("\n{:<8} {}\n{:<8} {}\n{:<8} {} rows: {} samples/s, within 5 % of the best\n",
             "device", report.device, "largest", largest_text(report, arguments.most_rows),
             "fastest", with_thousands(report.fastest.batch_size),
             with_thousands(static_cast<int64_t>(report.fastest.samples_per_second)));
  fmt::print(
      "\nLarger batches make fewer steps of an epoch, which may need another learning rate:\n"
      "the fastest batch is not always the one that learns fastest.\n");
  return 0;
}

}  // namespace trainer::cli
