// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/types.h"
#include "trainer/torch/device/graph.h"
#include "trainer/train/step.h"

namespace trainer::train {

/// The work of a step before the update, for steps of one pass over a whole batch.
struct PassFunctions {
  /// Copies the inputs from the CPU to the device, always to the same memory.
  std::function<void(const Window&)> prepare;
  /// Does the rest of the work, on the device only. Fills the tensor `[n]` with the numbers that
  /// the step returns.
  std::function<void(const Window&, at::Tensor&)> compute;
  /// Its other results: float32 tensors whose memory never changes.
  std::vector<at::Tensor> results;
  /// The results that compute() also reads, so that a second run would change them again.
  std::vector<at::Tensor> updated;
};

/// For small networks the host needs longer to start the operations of a step one by one than the
/// device to run them. So where the device has graphs (torch/device/graph.h), they are recorded
/// once and launched as one. The graph is used only if it computes the same bits as the operations
/// one by one: a run, and a run that is resumed, do not depend on it.
class StepGraph {
 public:
  StepGraph(PassFunctions functions, config::CudaGraphs choice)
      : functions_(std::move(functions)), is_off_(choice == config::CudaGraphs::kOff) {}

  /// Computes `window`, a whole batch in one pass, with the graph, and fills `numbers`. Returns
  /// false if the graph cannot be used; then nothing has changed.
  bool run(const Window& window, at::Tensor& numbers);

 private:
  bool record(const Window& window, const at::Tensor& numbers);
  std::string find_problem(const std::vector<at::Tensor>& before);
  void take_rows(const Window& window);

  PassFunctions functions_;
  bool is_off_;
  int64_t num_before_ = 0;                // steps that ran without a graph
  std::unique_ptr<device::Graph> graph_;  // null: not recorded yet
  const ResidentData* data_ = nullptr;    // the data that the graph reads
  at::Tensor order_;                      // [batch] rows of the data, read by the graph
  at::Tensor numbers_;
};

}  // namespace trainer::train
