// SPDX-License-Identifier: Apache-2.0
#include "train/engine/workload.h"

#include "trainer/base/memory/process_memory.h"
#include "trainer/torch/device/memory.h"

namespace trainer::engine {
namespace {

int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<int64_t>(tensor.nbytes()) : 0;
}

int64_t bytes_of(const std::optional<train::ResidentData>& data) {
  if (!data) return 0;
  return bytes_of(data->features) + bytes_of(data->targets) + bytes_of(data->weights);
}

profile::MemoryUse memory_use(const train::Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  profile::MemoryUse memory;
  memory.parameters = bytes_of(flat.values) + bytes_of(session.model.buffer_values());
  memory.gradients = bytes_of(flat.gradients);
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    memory.moments += bytes_of(moment.tensor);
  }
  if (session.step) memory.activations = session.step->activation_bytes();
  memory.data = bytes_of(session.train) + bytes_of(session.validation) + bytes_of(session.test);
  memory.process_peak = process_memory().peak;
  if (const auto device = device::accelerator_memory(session.device)) {
    memory.device_peak = device->peak.value_or(device->current);
  }
  return memory;
}

}  // namespace

profile::Workload describe_workload(const train::Session& session, const Decisions& decisions,
                                    int64_t num_rows) {
  const dist::Division& division = session.division;
  return {.network = session.model.spec(),
          .device = session.device.str(),
          .precision = to_text(decisions.precision.precision),
          .uses_kernels = train::uses_kernels(session),
          .num_threads = decisions.threads.num_threads,
          .batch_size = train::batch_size(session),
          .rows = num_rows * division.mine().size() / division.num_shards(),
          .bytes_per_feature = session.train.features.element_size(),
          .num_moments = static_cast<int64_t>(session.optimizer_state.moments.size()),
          .memory = memory_use(session)};
}

}  // namespace trainer::engine
