// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/apply/model.h"

namespace trainer::apply {

/// The metadata of a model for exported files, as the text of a JSON object: task, labels, names of
/// features and targets, columns, scaling, versions, the checkpoint and its position.
std::string export_description(const Model& model);

/// The same metadata as pairs of a name and a text; lists, objects and numbers are JSON texts.
std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model);

}  // namespace trainer::apply
