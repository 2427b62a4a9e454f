// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/task.h"

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

constexpr int64_t kMaxKinds = 20;        // of whole numbers; more are an amount, unless they are
constexpr int64_t kMaxNumbered = 100;    // numbered one by one
constexpr int64_t kRowsPerNumbered = 5;  // on average, for this to be no accident

bool are_numbered(const TargetFacts& facts) {
  return facts.num_distinct <= kMaxNumbered && (facts.min == 0 || facts.min == 1) &&
         facts.max - facts.min + 1 == static_cast<double>(facts.num_distinct) &&
         facts.num_rows >= kRowsPerNumbered * facts.num_distinct;
}

}  // namespace

TaskChoice infer_task(const TargetFacts& facts) {
  using config::Task;
  if (!facts.all_numbers) return {Task::kClassification, "because it is text", ""};
  if (!facts.all_whole) return {Task::kRegression, "because it has non-integer values", ""};
  const std::string numbers =
      fmt::format("because it has {} distinct integer values", with_thousands(facts.num_distinct));
  if (facts.num_distinct <= kMaxKinds || are_numbered(facts)) {
    return {Task::kClassification, numbers,
            facts.num_distinct > 2 ? "set task: regression if they are quantities" : ""};
  }
  return {Task::kRegression, numbers, "set task: classification if they are classes"};
}

}  // namespace trainer::data
