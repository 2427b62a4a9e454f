// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "trainer/apply/model.h"
#include "trainer/core/document.h"
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

/// What it is, what it expects of data and how it was trained. For programs nothing is shortened.
Document inspection_document(const Inspection& inspection);

}  // namespace trainer::apply
