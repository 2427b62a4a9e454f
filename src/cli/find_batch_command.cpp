// SPDX-License-Identifier: Apache-2.0
#include "cli/find_batch_command.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/core/labeled_lines.h"
#include "trainer/core/text.h"

#include "cli/engine_library.h"
#include "cli/resolve_config.h"

namespace trainer::cli {
namespace {

std::string largest_text(const engine::BatchSearchReport& report, int64_t most_rows) {
  if (report.too_large > 0) {
    return fmt::format("{}; {} do not fit", counted(report.largest, "row"),
                       with_thousands(report.too_large));
  }
  return fmt::format("{}, {}", counted(report.largest, "row"),
                     most_rows > 0 ? "the most that were to be tried" : "all of the training part");
}

std::string summary_text(const engine::BatchSearchReport& report, int64_t most_rows) {
  constexpr int kWidth = 8;
  LabeledLines lines(kWidth);
  lines.add("device", report.device);
  lines.add("largest", largest_text(report, most_rows));
  lines.add("fastest",
            fmt::format("{}: {} samples/s, within 5 % of the best",
                        counted(report.fastest.batch_size, "row"),
                        with_thousands(static_cast<int64_t>(report.fastest.samples_per_second))));
  return lines.text();
}

void print_heading() {
  fmt::print("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n", "batch", "threads", "step", "samples/s",
             "memory");
}

void print_row(const engine::BatchTried& tried) {
  fmt::print("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n", with_thousands(tried.batch_size),
             tried.num_threads, human_duration(tried.step_seconds),
             with_thousands(static_cast<int64_t>(tried.samples_per_second)),
             human_bytes(static_cast<uint64_t>(tried.memory_bytes)));
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const engine::BatchTried& tried) {
  return {{"batch_size", tried.batch_size},
          {"threads", tried.num_threads},
          {"step_seconds", tried.step_seconds},
          {"samples_per_second", tried.samples_per_second},
          {"memory_bytes", tried.memory_bytes}};
}

}  // namespace

int find_batch_command(const Arguments& arguments) {
  require_config(arguments, "find-batch");
  engine::BatchSearchRequest request;
  request.config = resolve_config(arguments, checkpoint::Purpose::kLook).config;
  request.most = arguments.most_rows;
  nlohmann::ordered_json tried = nlohmann::ordered_json::array();
  request.progress = print_row;
  if (arguments.json) {
    request.progress = [&](const engine::BatchTried& one) { tried.push_back(to_json(one)); };
  } else {
    print_heading();
  }
  const engine::BatchSearchReport report = engine_library().find_batch(request);
  if (arguments.json) {
    nlohmann::ordered_json json = {{"device", report.device},
                                   {"tried", std::move(tried)},
                                   {"largest", report.largest},
                                   {"too_large", nullptr},
                                   {"fastest", to_json(report.fastest)}};
    if (report.too_large > 0) json["too_large"] = report.too_large;
    fmt::print("{}\n", json.dump(2));
    return 0;
  }
  fmt::print("\n{}", summary_text(report, arguments.most_rows));
  fmt::print(
      "\nLarger batches make fewer steps of an epoch, which may need another learning rate:\n"
      "the fastest batch is not always the one that learns fastest.\n");
  return 0;
}

}  // namespace trainer::cli
