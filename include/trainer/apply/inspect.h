// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/data/column.h"
#include "trainer/run/history.h"

namespace trainer::apply {

/// A model and the run that it comes from.
struct Inspection {
  Model model;
  std::filesystem::path run;  // its folder; empty when the checkpoint lies in none
  std::optional<run::History> history;
};

/// Throws as load_model() does.
Inspection inspect(const std::filesystem::path& run_or_checkpoint);

/// What it is, what it expects of data and how it was trained, for people to read.
std::string inspection_text(const Inspection& inspection);

/// "numeric, missing values filled with 3.5": the kind of a column and how its cells become
/// features.
std::string column_text(const data::Column& column);

}  // namespace trainer::apply
