// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "trainer/profile/profile.h"

namespace trainer::profile {
namespace {

constexpr double kGiga = 1e-9;

Json or_null(std::optional<int64_t> bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json to_json(const MemoryUse& memory) {
  return {{"parameters", memory.parameters},
          {"gradients", memory.gradients},
          {"moments", memory.moments},
          {"activations", or_null(memory.activations)},
          {"data", memory.data},
          {"device_peak", or_null(memory.device_peak)},
          {"process_peak", memory.process_peak}};
}

Json to_json(const WorkTime& work, const Profile& profile) {
  Json json = {{"work", work.name},
               {"seconds", work.seconds},
               {"share", profile.step_seconds > 0 ? work.seconds / profile.step_seconds : 0}};
  if (!work.layer.empty()) json["layer"] = work.layer;
  if (work.flops_per_second) {
    json["gflops_per_second"] = kGiga * *work.flops_per_second;
    if (profile.peak) json["of_peak"] = *work.flops_per_second / profile.peak->flops_per_second;
  }
  if (work.bytes_per_second) {
    json["gbytes_per_second"] = kGiga * *work.bytes_per_second;
    if (profile.peak) json["of_memory"] = *work.bytes_per_second / profile.peak->bytes_per_second;
  }
  return json;
}

}  // namespace

Json profile_json(const Profile& profile) {
  const Workload& workload = profile.workload;
  Json stages = Json::array();
  for (const StageTime& stage : profile.stages) {
    stages.push_back({{"stage", stage.name}, {"seconds", stage.seconds}, {"count", stage.count}});
  }
  Json work = Json::array();
  for (const WorkTime& time : profile.work) work.push_back(to_json(time, profile));
  Json json = {{"model", network::summary(workload.network)},
               {"parameters", network::num_parameters(workload.network)},
               {"device", workload.device},
               {"precision", workload.precision},
               {"step", workload.uses_kernels ? "fused" : "autograd"},
               {"threads", workload.num_threads},
               {"batch_size", workload.batch_size},
               {"steps", workload.steps},
               {"rows", workload.rows},
               {"peak", nullptr},
               {"seconds", profile.seconds},
               {"stages", std::move(stages)},
               {"step_seconds", profile.step_seconds},
               {"work", std::move(work)},
               {"waiting_seconds", profile.waiting_seconds},
               {"checkpoint_writing_seconds", profile.checkpoint_seconds},
               {"memory_bytes", to_json(workload.memory)}};
  if (profile.peak) {
    json["peak"] = {{"gflops_per_second", kGiga * profile.peak->flops_per_second},
                    {"gbytes_per_second", kGiga * profile.peak->bytes_per_second}};
  }
  return json;
}

}  // namespace trainer::profile
