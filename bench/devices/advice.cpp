// SPDX-License-Identifier: Apache-2.0
#include "devices/advice.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "devices/noise.h"

namespace trainer::bench {
namespace {

bool has_smaller_median(const Row& a, const Row& b) { return a.step_ms.median < b.step_ms.median; }

// As configuration keys. The fused step is what auto selects where it exists, and an error
// elsewhere.
std::string keys(const Setting& setting) {
  return fmt::format("device: {}, precision: {}, training.step: {}", setting.device,
                     setting.precision, setting.train_step == "fused" ? "auto" : "autograd");
}

// What is recommended for a workload.
struct Choice {
  std::string workload;
  std::optional<Row> row;  // nothing: none
  std::string reason;
  double lead = 0;  // how much faster than the next one; 0: it is not
};

// The rows whose times relate to those of `winner` in this way.
std::vector<Row> rows_that_are(Order order, const Row& winner, std::span<const Row> rows) {
  std::vector<Row> found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found), [&](const Row& row) {
    return config_name(row.setting) != config_name(winner.setting) &&
           compare_speed(row, winner) == order;
  });
  return found;
}

std::string names(std::span<const Row> rows) {
  std::vector<std::string> all;
  for (const Row& row : rows) all.push_back(config_name(row.setting));
  return joined(all);
}

// Recommends `winner`, which none of the rows beats, unless it is not clear that it is as fast as
// each of them.
void recommend(const Row& winner, std::span<const Row> rows, Choice& choice) {
  choice.reason = why_unsteady(winner);
  if (!choice.reason.empty()) return;
  const std::vector<Row> unclear = rows_that_are(Order::kUnclear, winner, rows);
  if (!unclear.empty()) {
    choice.reason = fmt::format("{} does not differ beyond the noise from {}",
                                config_name(winner.setting), names(unclear));
    return;
  }
  choice.row = winner;
  if (const auto equal = rows_that_are(Order::kEqual, winner, rows); !equal.empty()) {
    choice.reason = fmt::format("it is simpler than {} and within 5 % of {} speed", names(equal),
                                equal.size() == 1 ? "its" : "their");
    return;
  }
  const std::vector<Row> slower = rows_that_are(Order::kSlower, winner, rows);
  const Row& next = *std::min_element(slower.begin(), slower.end(), has_smaller_median);
  choice.lead = relative_time(next, winner).median;
  choice.reason = fmt::format("it is {:.2f}x faster than the next one, {}", choice.lead,
                              config_name(next.setting));
}

// The first row that no other one beats; the end if each is beaten, in a circle.
auto find_winner(std::span<const Row> rows) {
  const auto is_beaten = [&](const Row& row) {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& other) {
      return compare_speed(row, other) == Order::kSlower;
    });
  };
  return std::find_if_not(rows.begin(), rows.end(), is_beaten);
}

Choice choose(std::span<const Row> workload) {
  Choice choice;
  choice.workload = workload_name(workload.front().setting);
  std::vector<Row> rows;
  std::copy_if(workload.begin(), workload.end(), std::back_inserter(rows),
               [](const Row& row) { return is_sound(row); });
  if (rows.empty()) {
    choice.reason = "no row has a correct loss and bounded memory";
    return choice;
  }
  if (rows.size() == 1) {
    choice.row = rows.front();
    choice.reason = "it is the only one with a correct loss";
    return choice;
  }
  choice.reason = why_incomparable(rows);
  if (!choice.reason.empty()) return choice;
  const std::span<const Row> all(rows);
  if (const auto winner = find_winner(all); winner == all.end()) {
    choice.reason = "the differences are within the noise";
  } else {
    recommend(*winner, all, choice);
  }
  return choice;
}

std::string text_of(const Choice& choice) {
  return choice.row ? keys(choice.row->setting) : "none";
}

// One recommendation for all workloads.
std::string common_text(const std::vector<Choice>& choices) {
  const auto [lowest, highest] =
      std::minmax_element(choices.begin(), choices.end(),
                          [](const Choice& a, const Choice& b) { return a.lead < b.lead; });
  std::string reason = choices.front().reason;
  if (choices.size() > 1 && choices.front().row) {
    reason = fmt::format("it is the best choice for all {} workloads", choices.size());
    if (lowest->lead > 0) {
      reason +=
          fmt::format(", {:.2f}x to {:.2f}x faster than the next one", lowest->lead, highest->lead);
    }
  }
  return fmt::format("Recommendation: {}\n  because {}.", text_of(choices.front()), reason);
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
  if (workload.size() < 2) return {};
  if (const std::string why = why_incomparable(workload); !why.empty()) {
    return {"Not compared: " + why};
  }
  std::vector<Row> sorted(workload.begin(), workload.end());
  std::stable_sort(sorted.begin(), sorted.end(), has_smaller_median);
  const Row& fastest = sorted.front();
  const std::string name = config_name(fastest.setting);
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::string other = config_name(sorted[i].setting);
    switch (compare_speed(sorted[i], fastest)) {
      case Order::kSlower:
        lines.push_back(fmt::format("{} is {:.2f}x faster than {}", name,
                                    relative_time(sorted[i], fastest).median, other));
        break;
      case Order::kEqual:
        lines.push_back(fmt::format("{} and {} are equally fast (within 5 %)", name, other));
        break;
      case Order::kFaster:
      case Order::kUnclear:
        lines.push_back(fmt::format("{} and {} do not differ beyond the noise", name, other));
        break;
    }
  }
  return lines;
}

std::string recommendation(std::span<const Row> rows) {
  std::vector<Choice> choices;
  for (const auto& workload : by_workload(rows)) choices.push_back(choose(workload));
  const Choice& first = choices.front();
  const bool all_same = std::all_of(choices.begin(), choices.end(), [&](const Choice& choice) {
    return text_of(choice) == text_of(first) && (choice.row || choice.reason == first.reason);
  });
  if (all_same) return common_text(choices);
  if (std::none_of(choices.begin(), choices.end(),
                   [](const Choice& choice) { return choice.row.has_value(); })) {
    std::string text = "Recommendation: none";
    for (const Choice& choice : choices) {
      text += fmt::format("\n  {}: {}", choice.workload, choice.reason);
    }
    return text;
  }
  std::string text = "Recommendation (it depends on the model and the batch):";
  for (const Choice& choice : choices) {
    text +=
        fmt::format("\n  {}: {}\n    because {}.", choice.workload, text_of(choice), choice.reason);
  }
  return text;
}

}  // namespace trainer::bench
