// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/diagnose/profile/profile.h"

namespace trainer::profile {
namespace {

constexpr double kGiga = 1e-9;

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

void add_workload(const Profile& profile, Document& document) {
  const Workload& workload = profile.workload;
  const std::string model = network::summary(workload.network);
  const int64_t num_parameters = network::num_parameters(workload.network);
  const std::string threads = counted(workload.num_threads, "thread");
  document.add("model", "model",
               {model, fmt::format("{}; {} parameters", model, with_thousands(num_parameters))});
  document.data("parameters", num_parameters);
  document.data("device", workload.device);
  document.data("precision", workload.precision);
  document.data("step", workload.uses_kernels ? "fused" : "autograd");
  document.data("threads", workload.num_threads);
  document.data("batch_size", workload.batch_size);
  document.data("steps", workload.steps);
  document.data("rows", workload.rows);
  document.line("device", fmt::format("{}, {}, {}, {}", workload.device, workload.precision,
                                      workload.uses_kernels ? "fused step" : "autograd", threads));
  document.data("peak", nullptr);
  if (profile.peak) {
    const double gflops = kGiga * profile.peak->flops_per_second;
    const double gbytes = kGiga * profile.peak->bytes_per_second;
    document.add("peak", "peak",
                 {{{"gflops_per_second", gflops}, {"gbytes_per_second", gbytes}},
                  fmt::format("{:.0f} GFLOP/s and {:.1f} GB/s with {}, measured now", gflops,
                              gbytes, threads)});
  }
  if (workload.steps > 0) {
    const double rate = static_cast<double>(workload.rows) / profile.step_seconds;
    document.line("steps", fmt::format("{} of {}, {} rows/s", with_thousands(workload.steps),
                                       counted(workload.batch_size, "row"),
                                       with_thousands(static_cast<int64_t>(rate))));
  }
}

void add_stages(const Profile& profile, Document& document) {
  document.data("seconds", profile.seconds);
  Table& table = document.table(
      "stages",
      {{"stage", "stage", Align::kLeft}, {"seconds", "time"}, {"", "share"}, {"count", "times"}});
  for (const StageTime& stage : profile.stages) {
    table.add({stage.name,
               {stage.seconds, precise_duration(stage.seconds)},
               percent(stage.seconds, profile.seconds),
               {stage.count, stage.count > 0 ? with_thousands(stage.count) : ""}});
  }
  table.add_summary({"all", precise_duration(profile.seconds)});
  if (profile.checkpoint_seconds > 0) {
    table.add_note(fmt::format("Checkpoints were written in {}, beside training.",
                               precise_duration(profile.checkpoint_seconds)));
  }
}

// Adds a rate in units of 10^9, and its share of the peak; the cells are empty if it is not known.
void add_rate(std::optional<double> rate, std::optional<double> peak, std::vector<Cell>& row) {
  row.push_back(rate ? Cell{kGiga * *rate, fmt::format("{:.1f}", kGiga * *rate)} : without_data());
  row.push_back(rate && peak ? Cell{*rate / *peak, fmt::format("{:.0f} %", 100 * *rate / *peak)}
                             : without_data());
}

void add_work(const Profile& profile, Document& document) {
  const auto steps = static_cast<double>(profile.workload.steps);
  const auto each = [&](double seconds) { return precise_duration(seconds / steps); };
  const auto peak_of = [&](double cpu::Peak::*member) {
    return profile.peak ? std::optional((*profile.peak).*member) : std::nullopt;
  };
  Table table({{"work", "a step", Align::kLeft},
               {"seconds", "time"},
               {"share", "share"},
               {.key = "layer", .title = "", .is_shown = false},
               {"gflops_per_second", "GFLOP/s"},
               {"of_peak", "of peak"},
               {"gbytes_per_second", "GB/s"},
               {"of_memory", "of memory"}});
  for (const WorkTime& work : profile.work) {
    const double share = profile.step_seconds > 0 ? work.seconds / profile.step_seconds : 0;
    std::vector<Cell> row = {{work.name, work.layer.empty() ? work.name : "  " + work.layer},
                             {work.seconds, each(work.seconds)},
                             {share, percent(work.seconds, profile.step_seconds)},
                             work.layer.empty() ? without_data() : Cell(work.layer)};
    add_rate(work.flops_per_second, peak_of(&cpu::Peak::flops_per_second), row);
    add_rate(work.bytes_per_second, peak_of(&cpu::Peak::bytes_per_second), row);
    table.add(std::move(row));
  }
  table.add_summary({profile.workload.num_threads > 1 ? "waiting, other" : "other",
                     each(profile.waiting_seconds),
                     percent(profile.waiting_seconds, profile.step_seconds)});
  table.add_summary({"all", each(profile.step_seconds)});
  document.data("step_seconds", profile.step_seconds);
  document.data("work", table.json());
  if (profile.workload.steps > 0) document.show(std::move(table));
  document.data("waiting_seconds", profile.waiting_seconds);
  document.data("checkpoint_writing_seconds", profile.checkpoint_seconds);
}

void add_memory(const MemoryUse& memory, Document& document) {
  Table& table = document.table("", {{"", "memory", Align::kLeft}, {"", "size"}});
  const auto add = [&](const std::string& key, const char* name, std::optional<int64_t> bytes) {
    document.data("memory_bytes." + key, bytes ? Json(*bytes) : Json());
    if (bytes) table.add({name, human_bytes(static_cast<uint64_t>(*bytes))});
  };
  add("parameters", "parameters", memory.parameters);
  add("gradients", "gradients", memory.gradients);
  add("moments", "moments", memory.moments);
  add("activations", "activations", memory.activations);
  add("data", "data", memory.data);
  add("device_peak", "device, at its peak", memory.device_peak);
  add("process_peak", "process, at its peak", memory.process_peak);
}

}  // namespace

Document profile_document(const Profile& profile) {
  Document document;
  add_workload(profile, document);
  add_stages(profile, document);
  add_work(profile, document);
  add_memory(profile.workload.memory, document);
  return document;
}

}  // namespace trainer::profile
