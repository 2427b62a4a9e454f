// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "trainer/apply/model.h"
#include "trainer/base/text/document.h"
#include "trainer/run/folder/history.h"

namespace trainer::apply {

/// A model and the run that it comes from.
struct Inspection {
  Model model;
  std::filesystem::path run;  // the run folder; empty if the checkpoint is in none
  std::optional<run::History> history;
};

/// Loads a model and, if it is in a run folder, the history of the run. Throws as load_model()
/// does.
Inspection inspect(const std::filesystem::path& run_or_checkpoint);

/// Describes the model, the data that it expects and how it was trained. The text shortens long
/// lists, the JSON does not.
Document inspection_document(const Inspection& inspection);

}  // namespace trainer::apply
