// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"
#include "trainer/apply/model.h"

namespace trainer::report {

/// Writes a model as one HTML file that loads no other files: a form of the columns of the table
/// (of features, if there are no columns), the prediction for it and the contributions of the
/// columns (explain::explain_row()), computed in the page. Throws Error(kRuntime), before anything
/// is written, if the model is too large for a page, and Error(kFileSystem).
apply::ExportReport export_html(const apply::Model& model, const std::filesystem::path& path);

}  // namespace trainer::report
