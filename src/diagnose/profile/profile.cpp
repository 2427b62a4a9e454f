// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/profile/profile.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "diagnose/profile/layer_names.h"

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

}  // namespace trainer::profile
