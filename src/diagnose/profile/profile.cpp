// SPDX-License-Identifier: Apache-2.0
// The Chrome trace has the "Trace Event Format", Google, 2016. Complete events ("ph": "X") have a
// begin and a duration in microseconds; metadata events ("ph": "M") name the rows.
#include "trainer/diagnose/profile/profile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"

#include "diagnose/profile/profile.h"

namespace trainer::profile {
namespace {

std::optional<double> rate(std::optional<double> amount, double seconds) {
  if (!amount || seconds <= 0) return std::nullopt;
  return *amount / seconds;
}

/// Reads the times of one kind of work from a timeline.
class WorkReader {
 public:
  WorkReader(const Timeline& timeline, const Workload& workload, Work work)
      : timeline_(timeline), workload_(workload), work_(work) {}

  bool is_empty() const { return num_layers() == 0; }

  /// Returns the seconds of all steps in a layer: the mean over the threads.
  double seconds(std::size_t layer) const {
    return timeline_.sum(Stage::kStep, work_, layer).seconds() /
           static_cast<double>(workload_.num_threads);
  }

  WorkTime total() const {
    WorkTime total{.name = std::string(name_of(work_))};
    for (std::size_t layer = 0; layer < num_layers(); ++layer) total.seconds += seconds(layer);
    total.flops_per_second = rate(flops_of_all(), total.seconds);
    total.bytes_per_second = rate(bytes_moved(workload_, work_), total.seconds);
    return total;
  }

  /// Returns the times of the layers that took any; empty if the timeline does not tell layers
  /// apart.
  std::vector<WorkTime> layers(const std::vector<std::string>& names) const {
    std::vector<WorkTime> result;
    for (std::size_t layer = 1; layer < num_layers(); ++layer) {
      WorkTime time{.name = std::string(name_of(work_)), .layer = names.at(layer - 1)};
      time.seconds = seconds(layer);
      if (time.seconds <= 0) continue;
      time.flops_per_second = rate(flops_of(layer - 1), time.seconds);
      result.push_back(time);
    }
    return result;
  }

 private:
  std::size_t num_layers() const { return timeline_.num_layers(Stage::kStep, work_); }

  std::optional<double> flops_of(std::size_t linear) const {
    const auto flops = flops_per_row(workload_.network, work_, linear);
    if (!flops) return std::nullopt;
    return *flops * static_cast<double>(workload_.rows);
  }

  std::optional<double> flops_of_all() const {
    double sum = 0;
    const std::size_t num_linear = layer_names(workload_.network).size();
    for (std::size_t i = 0; i < num_linear; ++i) sum += flops_of(i).value_or(0);
    return sum > 0 ? std::optional(sum) : std::nullopt;
  }

  const Timeline& timeline_;
  const Workload& workload_;
  Work work_;
};

double checkpoint_seconds(const Timeline& timeline) {
  double seconds = 0;
  for (std::size_t stage = 0; stage < kNumStages; ++stage) {
    seconds += timeline.sum(static_cast<Stage>(stage), Work::kWriteCheckpoint, 0).seconds();
  }
  return seconds;
}

}  // namespace

std::vector<std::string> layer_names(const network::NetworkSpec& network) {
  std::vector<std::string> names;
  for (const network::Layer& layer : network.layers) {
    if (const auto* linear = std::get_if<network::Linear>(&layer)) names.push_back(linear->name);
  }
  return names;
}

Profile make_profile(const Timeline& timeline, Workload workload, std::optional<cpu::Peak> peak) {
  workload.steps = timeline.sum(Stage::kStep).count;
  Profile profile;
  profile.peak = peak;
  for (std::size_t i = 1; i <= kNumStages; ++i) {  // the first stage, "other", comes last
    const auto stage = static_cast<Stage>(i % kNumStages);
    const TimeSum sum = timeline.sum(stage);
    profile.seconds += sum.seconds();
    if (sum.nanoseconds > 0) {
      profile.stages.push_back({std::string(name_of(stage)), sum.seconds(), sum.count});
    }
  }
  profile.step_seconds = timeline.sum(Stage::kStep).seconds();
  const std::vector<std::string> names = layer_names(workload.network);
  double working = 0;
  for (std::size_t i = 0; i < kNumWorks; ++i) {
    const auto work = static_cast<Work>(i);
    const WorkReader reader(timeline, workload, work);
    if (work == Work::kWriteCheckpoint || reader.is_empty()) continue;
    profile.work.push_back(reader.total());
    working += profile.work.back().seconds;
    std::vector<WorkTime> layers = reader.layers(names);
    std::move(layers.begin(), layers.end(), std::back_inserter(profile.work));
  }
  profile.waiting_seconds = std::max(0.0, profile.step_seconds - working);
  profile.checkpoint_seconds = checkpoint_seconds(timeline);
  profile.workload = std::move(workload);
  return profile;
}

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

namespace {

std::string span_name(const TimeSpan& span, const std::vector<std::string>& names) {
  if (span.layer == 0) return std::string(span.name);
  return fmt::format("{} {}", span.name, names.at(static_cast<std::size_t>(span.layer - 1)));
}

}  // namespace

std::string chrome_trace(const Timeline& timeline, const network::NetworkSpec& network) {
  const std::vector<std::string> names = layer_names(network);
  const std::vector<TimeSpan> spans = timeline.spans();
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  int32_t last_thread = 0;
  for (const TimeSpan& span : spans) {
    last_thread = std::max(last_thread, span.thread);
    text += fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f}}},)"
                        "\n",
                        span.thread, Json(span_name(span, names)).dump(),
                        1e-3 * static_cast<double>(span.begin),
                        1e-3 * static_cast<double>(span.end - span.begin));
  }
  for (int32_t thread = 0; thread <= last_thread; ++thread) {
    text += fmt::format(
        R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"thread {0}"}}}},)"
        "\n",
        thread);
  }
  text += R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"trainer"}})";
  return text + "\n]}\n";
}

}  // namespace trainer::profile
