// SPDX-License-Identifier: Apache-2.0
#include "run/checkpoint/checkpoint_format.h"

#include <optional>
#include <variant>

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using archive::Value;

bool is_none(const archive::DictReader& reader, const char* key) {
  return reader.value(key).get_if<std::monostate>() != nullptr;
}

Dict to_dict(const Totals& totals) {
  return {{"loss_sum", totals.loss_sum},
          {"num_correct", totals.num_correct},
          {"num_samples", totals.num_samples}};
}

Dict to_dict(const Best& best) { return {{"epoch", best.epoch}, {"value", best.value}}; }

Dict to_dict(const schedule::LossScaleState& scaler) {
  return {{"scale", scaler.scale}, {"good_steps", scaler.good_steps}};
}

Dict to_dict(const schedule::PlateauState& plateau) {
  return {{"best", plateau.best ? Value(*plateau.best) : Value()},
          {"bad_epochs", plateau.bad_epochs},
          {"cooldown_left", plateau.cooldown_left},
          {"num_reductions", plateau.num_reductions}};
}

template <class State>
Value optional_dict(const std::optional<State>& state) {
  return state ? Value(to_dict(*state)) : Value();
}

Totals read_totals(const archive::DictReader& reader) {
  return {.loss_sum = reader.number("loss_sum"),
          .num_correct = reader.count("num_correct"),
          .num_samples = reader.count("num_samples")};
}

std::optional<Best> read_best(const archive::DictReader& progress) {
  if (is_none(progress, "best")) return std::nullopt;
  const archive::DictReader reader = progress.section("best");
  return Best{.epoch = reader.count("epoch"), .value = reader.number("value")};
}

std::optional<schedule::LossScaleState> read_scaler(const archive::DictReader& progress) {
  if (is_none(progress, "scaler")) return std::nullopt;
  const archive::DictReader reader = progress.section("scaler");
  return schedule::LossScaleState{.scale = reader.number("scale"),
                                  .good_steps = reader.count("good_steps")};
}

std::optional<schedule::PlateauState> read_plateau(const archive::DictReader& progress) {
  if (is_none(progress, "plateau")) return std::nullopt;
  const archive::DictReader reader = progress.section("plateau");
  schedule::PlateauState plateau;
  if (!is_none(reader, "best")) plateau.best = reader.number("best");
  plateau.bad_epochs = reader.count("bad_epochs");
  plateau.cooldown_left = reader.count("cooldown_left");
  plateau.num_reductions = reader.count("num_reductions");
  return plateau;
}

// Format versions 2 and 3 added entries. Older files of version 3 lack `has_fallen_back`: a run
// that had run out of memory but had no smaller batches must have moved to the CPU.
Recoveries read_recoveries(const archive::DictReader& reader, int64_t version) {
  Recoveries recoveries;
  if (version >= 2) {
    recoveries.skipped_steps = reader.count("skipped_steps");
    recoveries.rollbacks = reader.count("rollbacks");
  }
  if (version >= 3) {
    recoveries.overflowed_steps = reader.count("overflowed_steps");
    recoveries.out_of_memory = reader.count("out_of_memory");
    recoveries.micro_batch_size = reader.count("rows_at_once");
    recoveries.has_fallen_back =
        reader.has("has_fallen_back")
            ? reader.get<bool>("has_fallen_back", "bool")
            : recoveries.out_of_memory > 0 && recoveries.micro_batch_size == 0;
  }
  return recoveries;
}

}  // namespace

archive::Dict to_dict(const RunState& state) {
  const Recoveries& recoveries = state.recoveries;
  return {{"epoch", state.position.epoch},
          {"step", state.position.step},
          {"samples_in_epoch", state.position.samples_in_epoch},
          {"epoch_totals", to_dict(state.epoch_totals)},
          {"interval_totals", to_dict(state.interval_totals)},
          {"best", optional_dict(state.best)},
          {"epochs_without_improvement", state.epochs_without_improvement},
          {"temperature", state.temperature},
          {"skipped_steps", recoveries.skipped_steps},
          {"rollbacks", recoveries.rollbacks},
          {"overflowed_steps", recoveries.overflowed_steps},
          {"out_of_memory", recoveries.out_of_memory},
          {"rows_at_once", recoveries.micro_batch_size},
          {"has_fallen_back", recoveries.has_fallen_back},
          {"scaler", optional_dict(state.scaler)},
          {"plateau", optional_dict(state.plateau)}};
}

RunState read_run_state(const archive::DictReader& progress, int64_t version) {
  RunState state;
  state.position = {.epoch = progress.count("epoch"),
                    .step = progress.count("step"),
                    .samples_in_epoch = progress.count("samples_in_epoch")};
  state.epoch_totals = read_totals(progress.section("epoch_totals"));
  state.interval_totals = read_totals(progress.section("interval_totals"));
  state.best = read_best(progress);
  state.epochs_without_improvement = progress.count("epochs_without_improvement");
  if (progress.has("temperature")) state.temperature = progress.number("temperature");
  state.recoveries = read_recoveries(progress, version);
  if (version >= 3) state.scaler = read_scaler(progress);
  if (version >= 4) state.plateau = read_plateau(progress);
  return state;
}

}  // namespace trainer::checkpoint
