// SPDX-License-Identifier: Apache-2.0
// Means of probabilities are computed from their logarithms, so that no small one becomes 0.
#include "trainer/cpu/combine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace trainer::cpu {
namespace {

// log(sum(exp(values))).
double log_sum_exp(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

// The logarithms of the probabilities of the classes; of both where there is a single logit.
void find_log_probabilities(std::span<const float> logits, std::vector<double>& logs) {
  logs.assign(logits.begin(), logits.end());
  if (logits.size() == 1) logs.insert(logs.begin(), 0.0);
  const double sum = log_sum_exp(logs);
  for (double& log : logs) log -= sum;
}

void combine_classes(const MemberOutputs& members, float* out, int64_t stride) {
  const auto width = static_cast<std::size_t>(members.num_columns);
  const auto num_members = static_cast<std::size_t>(members.num_members);
  std::vector<std::vector<double>> logs(num_members);
  std::vector<double> of_class(num_members);
  std::vector<double> means(std::max<std::size_t>(2, width));
  for (int64_t row = 0; row < members.num_rows; ++row) {
    const float* of_row = members.values + row * members.row_stride;
    for (std::vector<double>& of_member : logs) {
      find_log_probabilities({of_row, width}, of_member);
      of_row += members.member_stride;
    }
    for (std::size_t c = 0; c < means.size(); ++c) {
      for (std::size_t m = 0; m < num_members; ++m) of_class[m] = logs[m][c];
      means[c] = log_sum_exp(of_class) - std::log(static_cast<double>(num_members));
    }
    float* to = out + row * stride;
    if (width == 1) {
      *to = static_cast<float>(means[1] - means[0]);
    } else {
      std::copy(means.begin(), means.end(), to);
    }
  }
}

void combine_numbers(const MemberOutputs& members, float* out, int64_t stride) {
  for (int64_t row = 0; row < members.num_rows; ++row) {
    for (int64_t column = 0; column < members.num_columns; ++column) {
      const float* value = members.values + row * members.row_stride + column;
      double sum = 0;
      for (int64_t m = 0; m < members.num_members; ++m) {
        sum += static_cast<double>(value[m * members.member_stride]);
      }
      out[row * stride + column] =
          static_cast<float>(sum / static_cast<double>(members.num_members));
    }
  }
}

}  // namespace

void combine_members(network::Mean mean, const MemberOutputs& members, float* out, int64_t stride) {
  if (mean == network::Mean::kOfNumbers) {
    combine_numbers(members, out, stride);
  } else {
    combine_classes(members, out, stride);
  }
}

}  // namespace trainer::cpu
