// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "trainer/apply/model.h"
#include "trainer/data/column.h"
#include "trainer/data/scaling.h"

/// What the JSON of an inspection and the metadata of an export have in common.
namespace trainer::apply {

/// `name`, `kind` and what a cell becomes, in the units of the file.
nlohmann::ordered_json column_json(const data::Column& column);

/// Features, hidden sizes, outputs, activation, norm and residual connections.
nlohmann::ordered_json network_json(const Member& member);

/// Adds the descriptions of the members: as `model`, or where they differ in `members`.
void add_model_json(const Model& model,
                    const std::function<nlohmann::ordered_json(const Member&)>& describe,
                    nlohmann::ordered_json& json);

/// Its position, whether its weights are averaged, and its temperature.
nlohmann::ordered_json member_json(const Member& member);

/// `shift`, `scale` and, if there are some, `offset` of each feature or target.
nlohmann::ordered_json scaling_json(const data::Scaling& scaling);

/// The same of the targets of a regression, with the `low` and `high` of predictions if limited.
nlohmann::ordered_json target_scaling_json(const data::Schema& schema);

}  // namespace trainer::apply
