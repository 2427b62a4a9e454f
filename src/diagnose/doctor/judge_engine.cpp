// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/diagnose/doctor/judge.h"

namespace trainer::doctor {
namespace {

constexpr double kLargeDifference = 1e-3;
constexpr double kSlowProducts = 0.25;  // BLAS is slow below this fraction of the peak

Finding judge_device(const DeviceFacts& device) {
  if (!device.problem.empty()) {
    return {device.name, Status::kProblem, device.problem,
            "train on another device (device: cpu), and check driver and LibTorch"};
  }
  std::string text =
      fmt::format("a small step takes {} ({}) and agrees with LibTorch on the CPU to {:.1e}",
                  precise_duration(device.step_seconds), device.step, device.difference);
  for (const PrecisionFacts& precision : device.precisions) {
    text += fmt::format("; {} {}", precision.name, precision.support);
  }
  // Written so that NaN is a problem too.
  if (!(device.difference <= kLargeDifference)) {
    return {device.name, Status::kProblem,
            fmt::format("weights after some steps differ from those of the CPU by {:.1e}",
                        device.difference),
            "its results are wrong: train on another device (device: cpu), and update LibTorch and "
            "the driver"};
  }
  return {device.name, Status::kGood, text, ""};
}

}  // namespace

std::vector<Finding> judge(const EngineFacts& engine) {
  if (!engine.problem.empty()) {
    return {{"LibTorch", Status::kProblem, engine.problem,
             "nothing can be trained; predict, eval and export of trained models still work"}};
  }
  std::vector<Finding> findings = {{"LibTorch", Status::kGood,
                                    engine.library.empty()
                                        ? engine.libtorch
                                        : fmt::format("{}, {}", engine.libtorch, engine.library),
                                    ""}};
  for (const DeviceFacts& device : engine.devices) findings.push_back(judge_device(device));
  return findings;
}

Finding judge(const BlasFacts& facts, double blas_flops, const SpeedFacts& speed) {
  const run::BlasInfo& blas = facts.blas;
  Finding finding{"BLAS", Status::kGood, blas.name, ""};
  if (!blas.core.empty()) finding.text += fmt::format(", kernels for {}", blas.core);
  if (!blas.mistaken.empty()) {
    finding.text +=
        fmt::format(" (it takes this CPU for {}; OPENBLAS_CORETYPE was set for it)", blas.mistaken);
  }
  const double peak = speed.peak.flops_per_second;
  const bool is_slow = (blas_flops > 0 && blas_flops < kSlowProducts * peak) ||
                       run::better_blas_core(blas.core, facts.vectors);
  if (blas_flops > 0) {
    finding.text += fmt::format(", {:.0f} GFLOP/s: {:.0f} % of the peak", 1e-9 * blas_flops,
                                100 * blas_flops / peak);
  }
  if (!blas.is_slow && !is_slow) return finding;
  finding.status = Status::kNote;
  if (blas.is_slow) {
    finding.advice =
        "autograd and half precision are many times slower than with OpenBLAS (Debian: "
        "libopenblas0-openmp, then scripts/setup.sh --select-blas)";
  } else if (facts.core_is_set) {
    finding.advice = "autograd and half precision are slow; unset OPENBLAS_CORETYPE";
  } else {
    finding.advice =
        "autograd and half precision are slow; a newer OpenBLAS may know this CPU. A "
        "busy machine is slow too";
  }
  return finding;
}

}  // namespace trainer::doctor
