// SPDX-License-Identifier: Apache-2.0
// `trainer find-batch`: tries batch sizes, one per line, and prints the largest and the fastest.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/print_safely.h"

#include "cli/commands.h"
#include "cli/libraries.h"
#include "cli/print_document.h"
#include "cli/resolve_config.h"

namespace trainer::cli {
namespace {

std::string largest_text(const engine::BatchSearchReport& report, int64_t max_rows) {
  if (report.too_large > 0) {
    return fmt::format("{}; {} rows do not fit", counted(report.largest, "row"),
                       with_thousands(report.too_large));
  }
  return fmt::format("{}, {}", counted(report.largest, "row"),
                     max_rows > 0 ? "the limit of --max-batch" : "the whole training split");
}

void print_heading() {
  print_safely(fmt::format("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n", "batch", "threads", "step",
                           "samples/s", "memory"));
}

void print_row(const engine::BatchTrial& trial) {
  print_safely(fmt::format("{:>10}  {:>7}  {:>9}  {:>12}  {:>10}\n",
                           with_thousands(trial.batch_size), trial.num_threads,
                           human_duration(trial.step_seconds),
                           with_thousands(static_cast<int64_t>(trial.samples_per_second)),
                           human_bytes(static_cast<uint64_t>(trial.memory_bytes))));
  std::fflush(stdout);
}

Json to_json(const engine::BatchTrial& trial) {
  return {{"batch_size", trial.batch_size},
          {"threads", trial.num_threads},
          {"step_seconds", trial.step_seconds},
          {"samples_per_second", trial.samples_per_second},
          {"memory_bytes", trial.memory_bytes}};
}

class FindBatchCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::vector<Option> options() override {
    return {{"--max-batch", &max_batch_, "ROWS",
             "Largest batch size to try (default: all training rows)"},
            {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_resume("find-batch", common, problems);
    parse_count("--max-batch", max_batch_, max_rows_, problems);
  }

  int run(const CommonOptions& common) override {
    require_config(common, "find-batch");
    engine::BatchSearchRequest request;
    request.config = resolve_config(common, checkpoint::OpenMode::kReadOnly).config;
    request.max_batch_size = max_rows_;
    Json trials = Json::array();
    request.progress = [&](const engine::BatchTrial& trial) {
      trials.push_back(to_json(trial));
      if (!json_) print_row(trial);
    };
    if (!json_) print_heading();
    const engine::BatchSearchReport report = engine_library().find_batch(request);
    if (!json_) print_safely("\n");
    print_document(describe(report, std::move(trials)), json_);
    return 0;
  }

 private:
  Document describe(const engine::BatchSearchReport& report, Json trials) const {
    const engine::BatchTrial& fastest = report.fastest;
    Document document;
    document.add("device", "device", report.device);
    document.data("trials", std::move(trials));
    document.add("largest", "largest", {report.largest, largest_text(report, max_rows_)});
    document.data("too_large", report.too_large > 0 ? Json(report.too_large) : Json());
    document.add(
        "fastest", "fastest",
        {to_json(fastest),
         fmt::format("{}: {} samples/s, within 5 % of the best", counted(fastest.batch_size, "row"),
                     with_thousands(static_cast<int64_t>(fastest.samples_per_second)))});
    document.paragraph(
        "Larger batches mean fewer steps per epoch and may need a different learning rate: the "
        "batch size with the highest throughput does not always converge fastest.");
    return document;
  }

  std::string max_batch_;
  int64_t max_rows_ = 0;  // 0: all rows of the training split
};

}  // namespace

std::unique_ptr<Command> make_find_batch_command() { return std::make_unique<FindBatchCommand>(); }

}  // namespace trainer::cli
