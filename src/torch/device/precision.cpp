// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/precision.h"

#include <cstring>
#include <exception>

#include <ATen/ops/addmm.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/sysctl.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/version.h"

namespace trainer::device {
namespace {

using config::Precision;

// Whether LibTorch can run the operations of a step that some versions do not implement for all
// types. Such a version throws: "not implemented for 'Half'", "BFloat16 is not supported".
bool can_compute(c10::Device device, c10::ScalarType dtype) try {
  const c10::InferenceMode no_autograd;
  const at::Tensor a = at::ones({2, 2}, at::TensorOptions().device(device).dtype(dtype));
  const at::Tensor product = at::addmm(a, a, a.t());
  at::gelu_backward(product, at::gelu(product)).add_(at::silu(product)).mul_(at::tanh(product));
  product.relu().sum(0, false, at::kFloat).cpu();
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

c10::ScalarType scalar_type(Precision precision) {
  switch (precision) {
    case Precision::kFp16:
      return at::kHalf;
    case Precision::kBf16:
      return at::kBFloat16;
    case Precision::kFp32:
      break;
  }
  return at::kFloat;
}

PrecisionProbe probe_precision(c10::Device device, Precision precision) {
  PrecisionProbe probe;
  probe.macos = sysctl_text("kern.osproductversion");
  probe.libtorch = build_info().libtorch;
  probe.has_hardware = precision == Precision::kFp32 ||
                       (precision == Precision::kBf16 ? has_fast_bf16() : has_fp16());
  // Before macOS 14, trying bf16 on MPS would abort the process.
  if (device.is_mps() && precision == Precision::kBf16 &&
      parse_double(probe.macos.substr(0, probe.macos.find('.'))).value_or(0) < 14) {
    return probe;
  }
  // Every device supports fp32, so it is not tried: oneDNN, which would compute it, crashes if
  // memory for its generated code is short.
  probe.is_computed = precision == Precision::kFp32 || can_compute(device, scalar_type(precision));
  return probe;
}

PrecisionLimit precision_limit(c10::Device device, Precision precision,
                               const PrecisionProbe& probe) {
  if (precision == Precision::kFp32) return {};
  const std::string name = config::to_text(precision);
  if (!probe.is_computed) {
    std::string text =
        fmt::format("LibTorch {} does not support {} on {}", probe.libtorch, name, device.str());
    if (device.is_mps() && precision == Precision::kBf16) {
      text += fmt::format(" with macOS {} (requires macOS 14 and LibTorch 2.3)", probe.macos);
    }
    return {Support::kNone, text};
  }
  if (device.is_cpu() && !probe.has_hardware) {
    return {Support::kSlow,
            fmt::format(
                "this CPU has no fast instructions for {}; training is not faster than with fp32",
                name)};
  }
  return {};
}

PrecisionChoice choose_precision(Precision requested, c10::Device device, Fallback fallback,
                                 const PrecisionProbe& probe) {
  const PrecisionLimit limit = precision_limit(device, requested, probe);
  if (limit.support == Support::kGood) return {requested, ""};
  if (limit.support == Support::kSlow) return {requested, "precision: " + limit.text};
  if (fallback == Fallback::kForbidden) {
    throw Error(ErrorKind::kDevice,
                fmt::format("precision: {}; choose another precision or device, or set "
                            "device_fallback: true",
                            limit.text));
  }
  return {Precision::kFp32, fmt::format("precision: {}; using fp32 instead", limit.text)};
}

config::Precision precision_on_cpu(Precision requested) {
  const c10::Device cpu(c10::kCPU);
  return choose_precision(requested, cpu, Fallback::kToCpu, probe_precision(cpu, requested))
      .precision;
}

std::string mps_fallback_note(c10::Device device, const char* value) {
  if (!device.is_mps() || value == nullptr || std::strcmp(value, "1") != 0) return "";
  return "PYTORCH_ENABLE_MPS_FALLBACK=1: operations that MPS does not support run on the CPU, "
         "slowly and without further warnings";
}

}  // namespace trainer::device
