// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "trainer/base/function_ref.h"

namespace trainer::device {

/// Operations of a device that are recorded once and then launched together, which saves the host
/// from launching each. On CUDA, a CUDA graph.
class Graph {
 public:
  virtual ~Graph() = default;

  /// Runs `work` once and then records it. The memory that it reads and writes must stay the same.
  /// It may not wait for the device, nor copy from or to the CPU. Throws exceptions of LibTorch.
  virtual void record(FunctionRef<void()> work) = 0;

  /// Starts the recorded operations, without waiting for them.
  virtual void launch() = 0;
};

using GraphMaker = std::unique_ptr<Graph> (*)();

/// Creates an empty graph for `device`; null if graphs are not supported there.
std::unique_ptr<Graph> make_graph(c10::Device device);

/// Sets the function that creates graphs for all devices of this type; null: not supported. For
/// tests.
void set_graph_maker(c10::DeviceType type, GraphMaker maker);

}  // namespace trainer::device
