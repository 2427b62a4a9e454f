// SPDX-License-Identifier: Apache-2.0
#include "train/step_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>

#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/time/timeline.h"
#include "trainer/torch/device/device.h"

namespace trainer::train {
namespace {

// In the first steps LibTorch allocates handles, workspaces and memory, which a graph cannot
// record.
constexpr int64_t kNumBefore = 3;

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.clone());
  return copies;
}

void copy(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

// Compares bits instead of numbers, because NaN is not equal to itself.
bool has_same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.view(at::kInt).equal(b.view(at::kInt));
}

}  // namespace

bool StepGraph::run(const Window& window, at::Tensor& numbers) {
  // A timeline needs the time of each operation, which a graph hides.
  if (is_off_ || Timeline::is_active() || window.num_samples != window.batch_size) {
    return false;
  }
  if (graph_ == nullptr) {
    if (num_before_++ < kNumBefore || !record(window, numbers)) return false;
  } else {
    if (data_ != &window.data || order_.size(0) != window.num_samples) return false;
    take_rows(window);
    graph_->launch();
  }
  numbers.copy_(numbers_);
  return true;
}

void StepGraph::take_rows(const Window& window) {
  order_.copy_(window.rows(0, window.num_samples));
  functions_.prepare(window);
}

// Records the graph and computes `window` with it. If that fails, returns false, and nothing has
// changed.
bool StepGraph::record(const Window& window, const at::Tensor& numbers) {
  is_off_ = true;  // set first, in case that the device fails and this throws
  graph_ = device::make_graph(window.order.device());
  if (graph_ == nullptr) return false;
  const std::vector<at::Tensor> before = copies(functions_.updated);
  std::string problem;
  try {
    data_ = &window.data;
    order_ = at::empty_like(window.rows(0, window.num_samples));
    numbers_ = at::empty_like(numbers);
    take_rows(window);
    problem = find_problem(before);
  } catch (const std::exception& e) {
    problem = device::error_line(e);
  }
  const std::string device = window.order.device().str();
  if (problem.empty()) {
    is_off_ = false;
    log::event("cuda_graph", fmt::format("{}: steps are launched as one graph", device), {});
    return true;
  }
  graph_.reset();
  copy(before, functions_.updated);
  log::event("cuda_graph",
             fmt::format("{}: steps are launched without a graph: {}", device, problem), {},
             log::Level::kWarning);
  return false;
}

// Records a graph for the rows of `order_`, and compares its results with those of the operations
// one by one. Returns an empty string if they are the same.
std::string StepGraph::find_problem(const std::vector<at::Tensor>& before) {
  const Window window{
      .data = *data_, .order = order_, .num_samples = order_.size(0), .batch_size = order_.size(0)};
  graph_->record([&] { functions_.compute(window, numbers_); });
  std::vector<at::Tensor> results = functions_.results;
  results.push_back(numbers_);
  const std::vector<at::Tensor> expected = copies(results);
  for (at::Tensor& result : results) result.fill_(NAN);
  copy(before, functions_.updated);
  graph_->launch();
  const bool is_same = std::equal(results.begin(), results.end(), expected.begin(), has_same_bits);
  return is_same ? "" : "its results differ from those of the operations one by one";
}

}  // namespace trainer::train
