// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/torch/model/parameters.h"

namespace trainer::test {

/// The elements as floats, row by row.
inline std::vector<float> elements(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().cpu().to(at::kFloat).contiguous();
  const auto* begin = flat.data_ptr<float>();
  return {begin, begin + flat.numel()};
}

/// The scale that makes a sum over the rows of `features` a mean.
inline at::Tensor scale_of_mean(const at::Tensor& features) {
  return at::full({}, 1 / static_cast<double>(features.size(0)), features.options());
}

/// The tensor called `name`; fails the test by an exception when there is none.
inline at::Tensor find(const std::vector<model::NamedTensor>& tensors, const std::string& name) {
  if (const model::NamedTensor* named = find_by_name(tensors, name)) return named->tensor;
  throw std::logic_error("no tensor " + name);
}

/// Equal shapes, and elements that differ by at most `absolute` + `relative` * |expected|.
inline testing::AssertionResult close(const at::Tensor& actual, const at::Tensor& expected,
                                      double absolute = 1e-6, double relative = 1e-5) {
  if (actual.sizes() != expected.sizes()) {
    return testing::AssertionFailure()
           << fmt::format("shape [{}] instead of [{}]", fmt::join(actual.sizes(), ", "),
                          fmt::join(expected.sizes(), ", "));
  }
  const std::vector<float> a = elements(actual);
  const std::vector<float> b = elements(expected);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool near = std::abs(a[i] - b[i]) <= absolute + relative * std::abs(b[i]);
    if (!near) {
      return testing::AssertionFailure()
             << fmt::format("element {} is {:.9g} instead of {:.9g}", i, a[i], b[i]);
    }
  }
  return testing::AssertionSuccess();
}

/// The same bits, but for the sign of zero.
inline testing::AssertionResult identical(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() == expected.sizes() && at::equal(actual.cpu(), expected.cpu())) {
    return testing::AssertionSuccess();
  }
  const testing::AssertionResult difference = close(actual, expected, 0, 0);
  return testing::AssertionFailure() << difference.message();
}

}  // namespace trainer::test
