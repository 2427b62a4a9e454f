// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "trainer/core/function_ref.h"

namespace trainer::device {

/// Operations of a device that are recorded once and then launched together, which spares the host
/// the work for each: on CUDA a CUDA graph.
class Graph {
 public:
  virtual ~Graph() = default;

  /// Runs `work` once and then records it. What it reads and writes has to stay where it is. It may
  /// not wait for the device, nor copy from or to the CPU. Throws what LibTorch throws.
  virtual void record(FunctionRef<void()> work) = 0;

  /// Starts what was recorded, and does not wait for it.
  virtual void launch() = 0;
};

using GraphMaker = std::unique_ptr<Graph> (*)();

/// An empty graph of `device`; null if LibTorch has none for it.
std::unique_ptr<Graph> make_graph(c10::Device device);

/// Makes `maker` that of all devices of this type; null: they have none. For tests.
void set_graph_maker(c10::DeviceType type, GraphMaker maker);

}  // namespace trainer::device
