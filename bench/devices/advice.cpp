// SPDX-License-Identifier: Apache-2.0
#include "devices/advice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace trainer::bench {
namespace {

constexpr double kEquallyFast = 1.05;

bool is_faster(const Row& a, const Row& b) { return a.step_ms.median < b.step_ms.median; }

// As configuration keys.
std::string keys(const Setting& setting) {
  return fmt::format("device: {}, precision: {}, training.step: {}", setting.device,
                     setting.precision, setting.train_step);
}

std::vector<Row> right_rows(std::span<const Row> workload) {
  std::vector<Row> right;
  std::copy_if(workload.begin(), workload.end(), std::back_inserter(right), has_right_loss);
  return right;
}

// The fastest row of one workload.
struct Winner {
  Row row;
  double lead =
      1;  // time of the best other row relative to it; below 1: chosen because it is simpler
  std::string next;  // the best other row; empty: none
};

std::optional<Winner> find_winner(std::span<const Row> workload) {
  const std::vector<Row> rows = right_rows(workload);
  if (rows.empty()) return std::nullopt;
  const double best = std::min_element(rows.begin(), rows.end(), is_faster)->step_ms.median;
  const auto winner = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.step_ms.median <= kEquallyFast * best;
  });
  Winner result{*winner, 1, ""};
  std::vector<Row> others = rows;
  others.erase(others.begin() + (winner - rows.begin()));
  if (!others.empty()) {
    const Row& next = *std::min_element(others.begin(), others.end(), is_faster);
    result.lead = next.step_ms.median / winner->step_ms.median;
    result.next = config_name(next.setting);
  }
  return result;
}

std::string reason(const Winner& winner) {
  if (winner.next.empty()) return "it is the only one with a correct loss";
  if (winner.lead < kEquallyFast) {
    return fmt::format("it is simpler than {} and within 5 % of its speed", winner.next);
  }
  return fmt::format("it is {:.2f}x faster than the next one, {}", winner.lead, winner.next);
}

std::string one_for_all(const std::vector<Winner>& winners) {
  const Winner& first = winners.front();
  if (winners.size() == 1) {
    return fmt::format("Recommendation: {}\n  because {}.", keys(first.row.setting), reason(first));
  }
  std::vector<double> leads;
  leads.reserve(winners.size());
  for (const Winner& winner : winners) leads.push_back(winner.lead);
  const auto [lowest, highest] = std::minmax_element(leads.begin(), leads.end());
  std::string why = "it is the only one with a correct loss";
  if (!first.next.empty()) {
    why = fmt::format(
        "it is the best choice for all {} workloads, {:.2f}x to {:.2f}x faster than "
        "the next one",
        winners.size(), *lowest, *highest);
  }
  return fmt::format("Recommendation: {}\n  because {}.", keys(first.row.setting), why);
}

}  // namespace

std::vector<std::vector<Row>> by_workload(std::span<const Row> rows) {
  std::vector<std::vector<Row>> groups;
  for (const Row& row : rows) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return workload_name(group.front().setting) == workload_name(row.setting);
    });
    if (same == groups.end()) {
      groups.push_back({row});
    } else {
      same->push_back(row);
    }
  }
  return groups;
}

std::vector<std::string> speed_lines(std::span<const Row> workload) {
  std::vector<Row> sorted(workload.begin(), workload.end());
  std::stable_sort(sorted.begin(), sorted.end(), is_faster);
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    lines.push_back(fmt::format("{} is {:.2f}x faster than {}", config_name(sorted[0].setting),
                                sorted[i].step_ms.median / sorted[0].step_ms.median,
                                config_name(sorted[i].setting)));
  }
  return lines;
}

std::string recommendation(std::span<const Row> rows) {
  std::vector<Winner> winners;
  for (const auto& workload : by_workload(rows)) {
    if (const auto winner = find_winner(workload)) winners.push_back(*winner);
  }
  if (winners.empty()) return "Recommendation: none, because no row has a correct loss.";
  const bool all_same = std::all_of(winners.begin(), winners.end(), [&](const Winner& winner) {
    return config_name(winner.row.setting) == config_name(winners[0].row.setting);
  });
  if (all_same) return one_for_all(winners);
  std::string text = "Recommendation (it depends on the model and the batch):";
  for (const Winner& winner : winners) {
    text += fmt::format("\n  {}: {}\n    because {}.", workload_name(winner.row.setting),
                        keys(winner.row.setting), reason(winner));
  }
  return text;
}

}  // namespace trainer::bench
