// SPDX-License-Identifier: Apache-2.0
// Means of probabilities are computed from their logarithms, so that no small probability becomes
// 0.
#include "trainer/nn/cpu/combine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace trainer::cpu {
namespace {

// Computes log(sum(exp(values))) without overflow.
double log_sum_exp(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

// Writes the logarithms of the probabilities of all classes; of two classes for a single logit.
void find_log_probabilities(std::span<const float> logits, std::vector<double>& logs) {
  logs.assign(logits.begin(), logits.end());
  if (logits.size() == 1) logs.insert(logs.begin(), 0.0);
  const double sum = log_sum_exp(logs);
  for (double& log : logs) log -= sum;
}

// The logarithm of the weight of a member.
double log_weight(const MemberOutputs& members, std::size_t member) {
  return members.weights.empty() ? -std::log(static_cast<double>(members.num_members))
                                 : std::log(members.weights[member]);
}

/// The logarithms of the probabilities of one row: for each member, and for their mean.
struct RowLogs {
  std::vector<std::vector<double>> of_members;  // [members, classes]
  std::vector<double> means;                    // [classes]

  explicit RowLogs(const MemberOutputs& members)
      : of_members(static_cast<std::size_t>(members.num_members)),
        means(static_cast<std::size_t>(std::max<int64_t>(2, members.num_columns))) {}

  void find(const MemberOutputs& members, int64_t row) {
    const float* of_row = members.values + row * members.row_stride;
    for (std::vector<double>& of_member : of_members) {
      find_log_probabilities({of_row, static_cast<std::size_t>(members.num_columns)}, of_member);
      of_row += members.member_stride;
    }
    std::vector<double> of_class(of_members.size());
    const bool are_equal = members.weights.empty();
    for (std::size_t c = 0; c < means.size(); ++c) {
      for (std::size_t m = 0; m < of_class.size(); ++m) {
        of_class[m] = of_members[m][c] + (are_equal ? 0 : log_weight(members, m));
      }
      means[c] = log_sum_exp(of_class) + (are_equal ? log_weight(members, 0) : 0);
    }
  }
};

void combine_classes(const MemberOutputs& members, float* out, int64_t stride) {
  RowLogs logs(members);
  const std::vector<double>& means = logs.means;
  for (int64_t row = 0; row < members.num_rows; ++row) {
    logs.find(members, row);
    float* to = out + row * stride;
    if (members.num_columns == 1) {
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
        const double weight =
            members.weights.empty() ? 1 : members.weights[static_cast<std::size_t>(m)];
        sum += weight * static_cast<double>(value[m * members.member_stride]);
      }
      if (members.weights.empty()) sum /= static_cast<double>(members.num_members);
      out[row * stride + column] = static_cast<float>(sum);
    }
  }
}

// With the probability p of a member, and its share w = p / (sum of p over the members), of each
// class: the logarithm of the mean probability of class k has the gradient w_k (1 - p_k) with
// respect to the logit of k, and -w_k p_c with respect to that of another class c.
void classes_gradient(const MemberOutputs& members, const float* factors, float* out) {
  const auto width = static_cast<std::size_t>(members.num_columns);
  RowLogs logs(members);
  // A single output is the logarithm of the second class minus that of the first.
  const std::size_t first = logs.means.size() - width;
  std::vector<double> of_class(logs.means.size());  // factor of each class
  std::vector<double> shared(logs.means.size());    // factor times share of each class
  for (int64_t row = 0; row < members.num_rows; ++row, factors += width) {
    logs.find(members, row);
    std::copy_n(factors, width, of_class.begin() + static_cast<std::ptrdiff_t>(first));
    if (first == 1) of_class[0] = -of_class[1];
    float* to = out + row * members.row_stride;
    for (std::size_t m = 0; m < logs.of_members.size(); ++m) {
      const std::vector<double>& of_member = logs.of_members[m];
      const double weight = log_weight(members, m);
      double sum = 0;
      for (std::size_t c = 0; c < shared.size(); ++c) {
        shared[c] = of_class[c] * std::exp(of_member[c] - logs.means[c] + weight);
        sum += shared[c];
      }
      for (std::size_t c = first; c < shared.size(); ++c) {
        to[c - first] = static_cast<float>(shared[c] - std::exp(of_member[c]) * sum);
      }
      to += members.member_stride;
    }
  }
}

void numbers_gradient(const MemberOutputs& members, const float* factors, float* out) {
  for (int64_t row = 0; row < members.num_rows; ++row, factors += members.num_columns) {
    for (int64_t m = 0; m < members.num_members; ++m) {
      float* to = out + row * members.row_stride + m * members.member_stride;
      for (int64_t c = 0; c < members.num_columns; ++c) {
        to[c] = members.weights.empty()
                    ? factors[c] / static_cast<float>(members.num_members)
                    : factors[c] * static_cast<float>(members.weights[static_cast<std::size_t>(m)]);
      }
    }
  }
}

}  // namespace

void combine_gradient(network::Mean mean, const MemberOutputs& members, const float* factors,
                      float* out) {
  if (mean == network::Mean::kOfNumbers) {
    numbers_gradient(members, factors, out);
  } else {
    classes_gradient(members, factors, out);
  }
}

void combine_members(network::Mean mean, const MemberOutputs& members, float* out, int64_t stride) {
  if (mean == network::Mean::kOfNumbers) {
    combine_numbers(members, out, stride);
  } else {
    combine_classes(members, out, stride);
  }
}

}  // namespace trainer::cpu
