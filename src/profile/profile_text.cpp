// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/text_table.h"
#include "trainer/profile/profile.h"

namespace trainer::profile {
namespace {

using Row = std::vector<std::string>;

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::string stage_table(const Profile& profile) {
  std::vector<Row> rows = {{"stage", "time", "share", "times"}};
  for (const StageTime& stage : profile.stages) {
    rows.push_back({stage.name, precise_duration(stage.seconds),
                    percent(stage.seconds, profile.seconds),
                    stage.count > 0 ? with_thousands(stage.count) : ""});
  }
  rows.push_back({"all", precise_duration(profile.seconds), "", ""});
  return text_table(rows);
}

// A rate in units of 10^9, and its share of the peak.
void add_rate(std::optional<double> rate, std::optional<double> peak, Row& row) {
  row.push_back(rate ? fmt::format("{:.1f}", 1e-9 * *rate) : "");
  row.push_back(rate && peak ? fmt::format("{:.0f} %", 100 * *rate / *peak) : "");
}

std::string work_table(const Profile& profile) {
  const auto steps = static_cast<double>(profile.workload.steps);
  std::vector<Row> rows = {{"a step", "time", "share", "GFLOP/s", "of peak", "GB/s", "of memory"}};
  const auto add = [&](const std::string& name, double seconds) -> Row& {
    return rows.emplace_back(
        Row{name, precise_duration(seconds / steps), percent(seconds, profile.step_seconds)});
  };
  const auto peak_of = [&](double cpu::Peak::*member) {
    return profile.peak ? std::optional((*profile.peak).*member) : std::nullopt;
  };
  for (const WorkTime& work : profile.work) {
    Row& row = add(work.layer.empty() ? work.name : "  " + work.layer, work.seconds);
    add_rate(work.flops_per_second, peak_of(&cpu::Peak::flops_per_second), row);
    add_rate(work.bytes_per_second, peak_of(&cpu::Peak::bytes_per_second), row);
  }
  add(profile.workload.num_threads > 1 ? "waiting, other" : "other", profile.waiting_seconds);
  add("all", profile.step_seconds).resize(2);
  for (Row& row : rows) row.resize(rows.front().size());
  return text_table(rows);
}

std::string memory_table(const MemoryUse& memory) {
  std::vector<Row> rows = {{"memory", "size"}};
  const auto add = [&](const char* name, std::optional<int64_t> bytes) {
    if (bytes) rows.push_back({name, human_bytes(static_cast<uint64_t>(*bytes))});
  };
  add("parameters", memory.parameters);
  add("gradients", memory.gradients);
  add("moments", memory.moments);
  add("activations", memory.activations);
  add("data", memory.data);
  add("device, at its peak", memory.device_peak);
  add("process, at its peak", memory.process_peak);
  return text_table(rows);
}

std::string peak_text(const cpu::Peak& peak, int64_t num_threads) {
  return fmt::format("{:.0f} GFLOP/s and {:.1f} GB/s with {}, measured now",
                     1e-9 * peak.flops_per_second, 1e-9 * peak.bytes_per_second,
                     counted(num_threads, "thread"));
}

}  // namespace

std::string profile_text(const Profile& profile) {
  const Workload& workload = profile.workload;
  LabeledLines lines;
  lines.add("model", fmt::format("{}; {} parameters", network::summary(workload.network),
                                 with_thousands(network::num_parameters(workload.network))));
  lines.add("device", fmt::format("{}, {}, {}, {}", workload.device, workload.precision,
                                  workload.uses_kernels ? "fused step" : "autograd",
                                  counted(workload.num_threads, "thread")));
  if (profile.peak) lines.add("peak", peak_text(*profile.peak, workload.num_threads));
  if (workload.steps > 0) {
    lines.add("steps",
              fmt::format("{} of {}, {} rows/s", with_thousands(workload.steps),
                          counted(workload.batch_size, "row"),
                          with_thousands(static_cast<int64_t>(static_cast<double>(workload.rows) /
                                                              profile.step_seconds))));
  }
  std::string text = lines.text() + "\n" + stage_table(profile);
  if (profile.checkpoint_seconds > 0) {
    text += fmt::format("Checkpoints were written in {}, beside training.\n",
                        precise_duration(profile.checkpoint_seconds));
  }
  if (workload.steps > 0) text += "\n" + work_table(profile);
  return text + "\n" + memory_table(workload.memory);
}

}  // namespace trainer::profile
