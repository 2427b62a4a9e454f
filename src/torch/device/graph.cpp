// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/graph.h"

#include <array>
#include <cstddef>

#ifdef TRAINER_HAS_CUDA
#include <exception>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace trainer::device {
namespace {

#ifdef TRAINER_HAS_CUDA

/// Records a CUDA graph in the same way as torch.cuda.graph() in Python.
class CudaGraph : public Graph {
 public:
  void record(FunctionRef<void()> work) override {
    const c10::cuda::CUDAStream outer = c10::cuda::getCurrentCUDAStream();
    outer.synchronize();
    {
      // The default stream cannot be recorded. The first run lets cuBLAS allocate its handle and
      // workspace for this stream.
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
      work();
      guard.current_stream().synchronize();
      graph_.capture_begin();
      try {
        work();
      } catch (...) {
        end_failed_capture();
        throw;
      }
      graph_.capture_end();
    }
  }

  void launch() override { graph_.replay(); }

 private:
  // Ends the recording; otherwise the stream would stay in recording mode.
  void end_failed_capture() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it fails as its work did
    }
  }

  at::cuda::CUDAGraph graph_;
};

constexpr GraphMaker kCudaGraphMaker =
    +[]() -> std::unique_ptr<Graph> { return std::make_unique<CudaGraph>(); };

#else

constexpr GraphMaker kCudaGraphMaker = nullptr;

#endif

GraphMaker& maker_of(c10::DeviceType type) {
  static std::array<GraphMaker, c10::COMPILE_TIME_MAX_DEVICE_TYPES> makers = [] {
    std::array<GraphMaker, c10::COMPILE_TIME_MAX_DEVICE_TYPES> all{};
    all[static_cast<std::size_t>(c10::DeviceType::CUDA)] = kCudaGraphMaker;
    return all;
  }();
  return makers[static_cast<std::size_t>(type)];
}

}  // namespace

std::unique_ptr<Graph> make_graph(c10::Device device) {
  const GraphMaker make = maker_of(device.type());
  return make == nullptr ? nullptr : make();
}

void set_graph_maker(c10::DeviceType type, GraphMaker maker) { maker_of(type) = maker; }

}  // namespace trainer::device
