// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/golden_file.h"  // IWYU pragma: export
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::test {

namespace detail {

inline void collect(const Json& value, std::vector<float>& numbers) {
  if (value.is_array()) {
    for (const auto& part : value) collect(part, numbers);
  } else {
    numbers.push_back(value.get<float>());
  }
}

}  // namespace detail

/// Nested lists of numbers as a float32 tensor of test_device().
inline at::Tensor golden_tensor(const Json& value) {
  std::vector<int64_t> shape;
  for (const Json* part = &value; part->is_array(); part = &part->front()) {
    shape.push_back(static_cast<int64_t>(part->size()));
  }
  std::vector<float> numbers;
  detail::collect(value, numbers);
  return at::from_blob(numbers.data(), shape, at::kFloat).clone().to(test_device());
}

/// Copies `values`, tensors by name, to the parameters of these names.
inline void set_parameters(model::FlatParameters& flat, const Json& values) {
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    model::parameter_view(flat, flat.values, i).copy_(golden_tensor(values.at(flat.specs[i].name)));
  }
}

/// Compares the parts of `buffer`, laid out as the parameters are, with tensors by name.
inline void expect_golden(const model::FlatParameters& flat, const at::Tensor& buffer,
                          const Json& expected) {
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    const std::string& name = flat.specs[i].name;
    // Batch norm enlarges what an accelerator rounds otherwise in mish.
    const double absolute = buffer.is_cpu() ? 1e-6 : 2e-6;
    EXPECT_TRUE(
        close(model::parameter_view(flat, buffer, i), golden_tensor(expected.at(name)), absolute))
        << name;
  }
}

}  // namespace trainer::test
