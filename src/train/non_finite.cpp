// SPDX-License-Identifier: Apache-2.0
#include "train/non_finite.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/table/source/table_source.h"

#include "train/device_fault.h"
#include "train/records.h"
#include "train/saving.h"

namespace trainer::train {
namespace {

using checkpoint::Checkpoint;

constexpr int64_t kMaxRollbacks = 10;     // they make the learning rate 1,000 times smaller
constexpr int64_t kMaxSkipWarnings = 10;  // further skips are only counted in metrics.jsonl
constexpr int64_t kMaxRowsShown = 10;

[[noreturn]] void fail(const Session& session, Output& output, const checkpoint::Position& position,
                       const std::string& problem) {
  wait_for_saving(output);
  const bool stops = session.config.training.on_nonfinite == config::OnNonFinite::kStop;
  const bool clips = session.config.training.gradient_clip_norm > 0;
  throw Error(ErrorKind::kNonFinite,
              fmt::format("step {} (epoch {}): {}; lower training.learning_rate{}, {}check the "
                          "data for extreme values; the last good checkpoint is {}",
                          position.step, position.epoch, problem,
                          clips ? " or training.gradient_clip_norm"
                                : ", set training.gradient_clip_norm: 1",
                          stops ? "try training.on_nonfinite: skip or rollback, " : "",
                          output.checkpoints.last().string()));
}

bool is_finite_alone(Session& session, const Window& window, int64_t index) {
  const Batch sample = gather(window.data, window.rows(index, 1));
  const at::Tensor outputs =
      session.model.forward(sample.features, model::Mode::kInference).detach();
  return std::isfinite(model::loss_sum(outputs, sample.targets, session.loss).item<float>());
}

// Names the rows of the window whose own loss is not finite, or all rows if only the gradient is
// not.
std::string rows_text(Session& session, const Window& window) {
  const at::Tensor rows = window.rows(0, window.num_samples).cpu();
  const auto* indices = rows.data_ptr<int64_t>();
  std::vector<int64_t> all;
  std::vector<int64_t> bad;
  for (int64_t i = 0; i < window.num_samples; ++i) {
    const int64_t line = session.data.train.source_lines[static_cast<std::size_t>(indices[i])];
    all.push_back(line);
    if (!is_finite_alone(session, window, i)) bad.push_back(line);
  }
  std::vector<int64_t>& shown = bad.empty() ? all : bad;
  std::sort(shown.begin(), shown.end());
  const auto count = static_cast<int64_t>(shown.size());
  const config::DataConfig& data = session.config.data;
  const bool has_lines = data::has_lines(data);
  const auto last = shown.begin() + std::min(count, kMaxRowsShown);
  return fmt::format("{} {}{} {}{}{}", bad.empty() ? "the batch is" : "the loss is not finite for",
                     has_lines ? "line" : "row", count == 1 ? "" : "s",
                     fmt::join(shown.begin(), last, ", "),
                     count > kMaxRowsShown ? fmt::format(", ... ({} in total)", count) : "",
                     has_lines ? " of " + data.path : "");
}

std::string step_problem(Session& session, const Window& window, const StepStats& stats) {
  // std::abs() removes the sign of a NaN, which has no meaning.
  const float norm = std::abs(stats.grad_norm);
  const float loss = std::abs(stats.loss_sum);
  const bool is_gradient = !std::isfinite(norm) || !std::isfinite(loss);
  return fmt::format("the {} not finite (norm {}, mean loss {}); {}",
                     is_gradient ? "gradient is" : "running statistics of batch norm are", norm,
                     loss / static_cast<float>(stats.num_samples), rows_text(session, window));
}

// Restores the checkpoint of an epoch. Every run of this configuration has it, interrupted or not,
// so that all continue in the same way.
void roll_back_files(Session& session, Output& output) {
  std::filesystem::path file = output.checkpoints.newest_epoch(session.state.position.epoch);
  if (file.empty())
    file = output.checkpoints.last();  // the run was resumed within an epoch, from another folder
  const Checkpoint checkpoint = checkpoint::read(file);
  const int64_t rollbacks = session.state.recoveries.rollbacks + 1;
  restore(session, checkpoint);
  session.state.recoveries.rollbacks = rollbacks;
  if (!output.checkpoints.rewind(checkpoint, file)) reset_best(session);
  // last.pt is written before records are removed, because it must never refer to more records than
  // exist.
  Checkpoint changed = checkpoint;
  changed.state = session.state;
  output.checkpoints.save(changed, checkpoint::SaveReason::kOther, checkpoint::Store::IsBest::kNo);
  output.metrics.cut_to(checkpoint.metrics_bytes);
  output.events.go_back_to(checkpoint.state.position.step + 1);
}

void roll_back(Session& session, Output& output) {
  if (session.world->is_first()) roll_back_files(session, output);
  share_state(session);
  restart_clocks(session, output);
}

void warn(const checkpoint::Position& position, const std::string& problem) {
  log::event("non_finite",
             fmt::format("step {} (epoch {}): {}", position.step, position.epoch, problem),
             {{"step", position.step}, {"epoch", position.epoch}}, log::Level::kWarning);
}

}  // namespace

Reaction react_to_non_finite(Session& session, Output& output, const StepStats& stats) {
  require_the_same_on_cpu(session, output, stats);
  const checkpoint::Position position{.epoch = session.state.position.epoch + 1,
                                      .step = session.state.position.step + 1};
  const std::string problem = step_problem(session, next_window(session), stats);
  const config::OnNonFinite policy = session.config.training.on_nonfinite;
  if (policy == config::OnNonFinite::kSkip) {
    const int64_t skipped = session.state.recoveries.skipped_steps + 1;
    if (skipped <= kMaxSkipWarnings) {
      warn(position,
           fmt::format(
               "skipped: {}{}", problem,
               skipped == kMaxSkipWarnings
                   ? "; further skipped steps are only counted (skipped_steps in metrics.jsonl)"
                   : ""));
    }
    return Reaction::kSkipped;
  }
  if (policy == config::OnNonFinite::kStop) fail(session, output, position, problem);
  if (session.state.recoveries.rollbacks >= kMaxRollbacks) {
    fail(session, output, position, fmt::format("{}, after {} rollbacks", problem, kMaxRollbacks));
  }
  wait_for_saving(output);
  roll_back(session, output);
  warn(position, fmt::format("{}; rolling back to the end of epoch {}, step {}, and halving the "
                             "learning rate",
                             problem, session.state.position.epoch, session.state.position.step));
  return Reaction::kRolledBack;
}

void react_to_non_finite(const Session& session, Output& output, const run::MetricsRecord& record) {
  if (std::isfinite(*record.loss)) return;
  const std::string problem = fmt::format(
      "the {} loss is {}", record.split == "train" ? "training" : record.split, *record.loss);
  const checkpoint::Position position{.epoch = record.epoch, .step = record.step};
  if (session.config.training.on_nonfinite == config::OnNonFinite::kStop) {
    fail(session, output, position, problem);
  }
  warn(position, problem);
}

void check_any_step_made(const Session& session, Output& output) {
  if (session.state.epoch_totals.num_samples > 0) return;
  fail(session, output,
       {.epoch = session.state.position.epoch + 1, .step = session.state.position.step},
       "every step of the epoch was skipped");
}

}  // namespace trainer::train
