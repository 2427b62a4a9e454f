// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

/// Graphs, as CUDA has them: operators that are recorded in place of being run, and run again on
/// the same memory when they are launched.
namespace trainer::test::simulated {

using Recording = std::vector<std::function<void()>>;

/// While there is one, operators of all threads are recorded and change nothing. Waiting, and
/// copies to and from the device, throw what CUDA throws.
class RecordingScope {
 public:
  explicit RecordingScope(Recording& recording);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
};

bool is_recording();

/// Counts as one operator.
void launch(const Recording& recording);

/// Calls the CPU's kernel of `op` with tensors of the device.
using Execute = void (*)(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Records a call, and puts its results on the stack: memory that is filled when it is launched.
void record(const c10::OperatorHandle& op, torch::jit::Stack* stack, Execute execute);
void record_copy(const at::Tensor& to, const at::Tensor& from);

}  // namespace trainer::test::simulated
