// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/apply/model.h"

namespace trainer::apply {

/// All that the file of another format should tell of a model, as a JSON object: task, labels,
/// names of features and targets, columns, scaling, versions, the checkpoint and its position.
std::string export_description(const Model& model);

/// The same as texts by name; those of lists and objects are JSON.
std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model);

}  // namespace trainer::apply
