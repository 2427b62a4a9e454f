// SPDX-License-Identifier: Apache-2.0
#include "simulated_device/recording.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <ATen/core/LegacyTypeDispatch.h>

#include "simulated_device/aliases.h"
#include "simulated_device/launch.h"
#include "simulated_device/memory.h"
#include "simulated_device/state.h"

namespace trainer::test::simulated {
namespace {

std::atomic<Recording*> current{nullptr};

void add(std::function<void()> call) {
  const std::lock_guard lock(state().mutex);
  current.load()->push_back(std::move(call));
}

void for_each_tensor(const std::vector<c10::IValue>& values,
                     const std::function<void(const at::Tensor&)>& function) {
  for (const c10::IValue& v : values) {
    if (v.isTensor() && is_on_device(v.toTensor())) function(v.toTensor());
    if (!v.isList()) continue;
    const auto list = v.toList();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const c10::IValue element = list.get(i);
      if (element.isTensor() && is_on_device(element.toTensor())) function(element.toTensor());
    }
  }
}

void* memory_of(const at::Tensor& t) {
  return to_plain(t.storage().unsafeGetStorageImpl()->data_ptr().get());
}

/// What the memory had that recorded operators use: they run once, as nothing else makes results of
/// the right sizes. Lock the state.
std::map<const void*, std::pair<at::Tensor, std::string>> contents_before;

enum class Made { kBefore, kNow };

// What was made only now had nothing yet.
void keep_contents(const at::Tensor& t, Made made) {
  const std::lock_guard lock(state().mutex);
  const void* memory = memory_of(t);
  const std::size_t size = t.storage().nbytes();
  if (size == 0 || contents_before.contains(memory)) return;
  std::string bytes = made == Made::kNow ? std::string(size, '\xFF')
                                         : std::string(static_cast<const char*>(memory), size);
  contents_before.emplace(memory, std::pair(t, std::move(bytes)));
}

std::vector<c10::IValue> last(const torch::jit::Stack& stack, std::size_t count) {
  return {stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()};
}

void copy(const at::Tensor& to, const at::Tensor& from) {
  Aliases aliases;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  aliases.to_cpu(to).copy_(aliases.to_cpu(from));
}

std::vector<at::Tensor> tensors_of(const std::vector<c10::IValue>& values) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(values, [&](const at::Tensor& t) { tensors.push_back(t); });
  return tensors;
}

}  // namespace

RecordingScope::RecordingScope(Recording& recording) { current = &recording; }

// As if nothing had run.
RecordingScope::~RecordingScope() {
  const std::lock_guard lock(state().mutex);
  current = nullptr;
  for (const auto& [memory, before] : contents_before) {
    std::memcpy(memory_of(before.first), before.second.data(), before.second.size());
  }
  contents_before.clear();
}

bool is_recording() { return current.load() != nullptr; }

void record(const c10::OperatorHandle& op, torch::jit::Stack* stack, Execute execute) {
  const std::vector<c10::IValue> arguments = last(*stack, op.schema().arguments().size());
  for (const at::Tensor& t : tensors_of(arguments)) keep_contents(t, Made::kBefore);
  execute(op, stack);
  const std::vector<at::Tensor> results = tensors_of(last(*stack, op.schema().returns().size()));
  for (const at::Tensor& t : results) keep_contents(t, Made::kNow);
  add([op, arguments, results, execute] {
    torch::jit::Stack again(arguments.begin(), arguments.end());
    execute(op, &again);
    const std::vector<at::Tensor> computed = tensors_of(again);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].is_alias_of(computed[i])) copy(results[i], computed[i]);
    }
  });
}

void record_copy(const at::Tensor& to, const at::Tensor& from) {
  keep_contents(to, Made::kBefore);
  copy(to, from);
  add([to, from] { copy(to, from); });
}

void launch(const Recording& recording) {
  launch_graph();
  for (const std::function<void()>& call : recording) call();
}

}  // namespace trainer::test::simulated
