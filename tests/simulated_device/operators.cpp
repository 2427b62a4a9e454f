// SPDX-License-Identifier: Apache-2.0
// In a LibTorch without MPS and CUDA, nothing is registered for their dispatch keys. So this
// library registers a kernel of its own for every operator that the CPU has, and the unchanged
// program trains on the device "mps" or "cuda".
//
// The kernel is one function. It makes CPU tensors for the arguments, on the same memory at its
// plain address (aliases.h), calls the CPU's kernel, and turns the results into tensors of the
// device. What a kernel allocates comes from the device's memory (memory.h), so nothing is copied,
// and running out of memory happens in the middle of operators, as on a device.
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "simulated_device/aliases.h"
#include "simulated_device/hooks.h"
#include "simulated_device/launch.h"
#include "simulated_device/memory.h"
#include "simulated_device/recording.h"
#include "simulated_device/state.h"

namespace trainer::test::simulated {
namespace {

void check_dtype(c10::ScalarType dtype) {
  const Behaviour& b = state().behaviour;
  TORCH_CHECK_TYPE(dtype != at::kDouble || b.has_float64,
                   "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't "
                   "support float64. Please use float32 instead.");
  TORCH_CHECK_TYPE(dtype != at::kBFloat16 || b.has_bfloat16,
                   "MPS BFloat16 is only supported on MacOS 14 or newer");
  TORCH_CHECK_TYPE(dtype != at::kHalf || b.has_float16, "the simulated device has no float16");
}

bool is_list_of_tensors(const c10::IValue& v) {
  static const c10::TypePtr optional = c10::getTypePtr<c10::optional<at::Tensor>>();
  return v.isTensorList() || (v.isList() && *v.toList().elementType() == *optional);
}

template <class Convert>
void convert_tensors(c10::IValue& v, const Convert& convert) {
  if (v.isTensor()) {
    v = convert(v.toTensor());
  } else if (is_list_of_tensors(v)) {
    auto list = v.toList().copy();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const c10::IValue element = list.get(i);
      if (element.isTensor()) list.set(i, c10::IValue(convert(element.toTensor())));
    }
    v = std::move(list);
  }
}

/// The devices of the tensors of a call.
struct Devices {
  bool has_ours = false;
  bool has_cpu = false;

  void add(const at::Tensor& t) {
    has_ours |= is_on_device(t);
    has_cpu |= t.defined() && t.device().is_cpu() && t.dim() > 0;  // numbers are allowed
  }

  void check(const std::string& name) const {
    const bool may_mix =
        name == "aten::index" || name == "aten::index_put_" || name == "aten::_index_put_impl_";
    TORCH_CHECK(!has_ours || !has_cpu || may_mix,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                the_device(), " and cpu! (in ", name, ")");
  }
};

void convert_argument(const c10::Argument& argument, Aliases& aliases, Devices& devices,
                      c10::IValue& v) {
  if (v.isStorage()) {
    v = aliases.to_cpu(v.toStorage());
  } else if (v.isDevice()) {
    if (v.toDevice().type() == kType) v = c10::Device(c10::kCPU);
  } else if (argument.name() == "generator") {
    v = generator();
  } else if (argument.name() == "dtype" && v.isInt()) {
    check_dtype(v.toScalarType());
  } else {
    convert_tensors(v, [&](const at::Tensor& t) {
      devices.add(t);
      return aliases.to_cpu(t);
    });
  }
}

void fill_with_nan(c10::IValue& v) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  convert_tensors(v, [](const at::Tensor& t) {
    if (t.defined() && t.is_floating_point()) at::Tensor(t).fill_(NAN);
    return t;
  });
}

void execute(const c10::OperatorHandle& op, torch::jit::Stack* stack, bool gives_nan) {
  const c10::FunctionSchema& schema = op.schema();
  Aliases aliases;
  Devices devices;
  const std::size_t begin = stack->size() - schema.arguments().size();
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    convert_argument(schema.arguments()[i], aliases, devices, (*stack)[begin + i]);
  }
  devices.check(schema.name());
  {
    const InOperator in_operator;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
  for (std::size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i) {
    if (gives_nan) fill_with_nan((*stack)[i]);
    convert_tensors((*stack)[i], [&](const at::Tensor& t) {
      at::Tensor result = aliases.to_device(t);
      if (is_on_device(result)) check_dtype(result.scalar_type());
      return result;
    });
  }
  aliases.write_back();
}

void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Launched launched = launch(op);
  if (launched.is_work && is_recording()) {
    record(op, stack, [](const auto& again, auto* values) { execute(again, values, false); });
  } else {
    execute(op, stack, launched.outcome == Outcome::kNan);
  }
}

// To the device, from it and within it. Its own kernel, as the composite one of LibTorch asks for
// one of MPS.
at::Tensor& copy_into(at::Tensor& self, const at::Tensor& from, bool non_blocking) {
  if (!is_on_device(self)) {
    launch_copy(Copy::kToHost);
  } else {
    launch_copy(is_on_device(from) ? Copy::kWithin : Copy::kToDevice);
  }
  if (is_recording()) {
    record_copy(self, from);
    return self;
  }
  Aliases aliases;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  aliases.to_cpu(self).copy_(aliases.to_cpu(from), non_blocking);
  return self;
}

TORCH_LIBRARY_IMPL(_, SIMULATED_DEVICE, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run>());
}

// The fallback alone would leave what has a composite kernel to that one, whose results differ from
// the CPU's (native_layer_norm).
TORCH_LIBRARY_IMPL(aten, SIMULATED_DEVICE, m) {
  constexpr std::string_view kNamespace = "aten::";
  m.impl("copy_", TORCH_FN(copy_into));
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!std::string_view(name.name).starts_with(kNamespace) || name.name == "aten::copy_") {
      continue;
    }
    const auto op = dispatcher.findSchema(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    m.impl(c10::toString(name).substr(kNamespace.size()).c_str(),
           torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace
}  // namespace trainer::test::simulated
