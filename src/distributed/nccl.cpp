// SPDX-License-Identifier: Apache-2.0
// This code has not run on hardware yet; its callers are tested with other collectives. NCCL orders
// messages in the stream of the device. A lost rank is detected by the exchange of the losses,
// which uses the network of the CPUs in each step.
#include "distributed/nccl.h"

#include "trainer/base/error.h"

#ifdef TRAINER_HAS_NCCL

#include <exception>
#include <vector>

#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "distributed/gloo_transport.h"

namespace trainer::dist {

AllToAll connect_nccl(const std::shared_ptr<c10d::Store>& store, int64_t rank, int64_t size,
                      std::chrono::milliseconds timeout, c10::Device device) {
  try {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = timeout;
    const auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::make_intrusive<c10d::PrefixStore>(
            "trainer/nccl",
            c10::intrusive_ptr<c10d::Store>::unsafe_reclaim_from_nonowning(store.get())),
        static_cast<int>(rank), static_cast<int>(size), options);
    return [group, device](at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_counts,
                           std::vector<int64_t>& in_counts) {
      const c10::DeviceGuard guard(device);
      group->alltoall_base(out, in, out_counts, in_counts, {})->wait();
    };
  } catch (const std::exception& e) {
    throw Error(ErrorKind::kDevice,
                fmt::format("rank {} cannot use NCCL on {}: {}; use distributed.backend=gloo", rank,
                            device.str(), reason_of(e)));
  }
}

}  // namespace trainer::dist

#else

namespace trainer::dist {

AllToAll connect_nccl(const std::shared_ptr<c10d::Store>& /*store*/, int64_t /*rank*/,
                      int64_t /*size*/, std::chrono::milliseconds /*timeout*/,
                      c10::Device /*device*/) {
  throw Error(ErrorKind::kDevice,
              "distributed.backend=nccl: this build of LibTorch has no NCCL; use auto");
}

}  // namespace trainer::dist

#endif
