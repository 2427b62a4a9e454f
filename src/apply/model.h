// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "trainer/apply/model.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/schema/scaling.h"

/// The parts that the JSON of an inspection and the metadata of an export have in common.

namespace trainer::apply {

/// `name`, `kind` and how a cell becomes features, with numbers in the units of the file.
nlohmann::ordered_json column_json(const data::Column& column);

/// Features, hidden sizes, outputs, activation, norm and residual connections.
nlohmann::ordered_json network_json(const Member& member);

/// Adds the descriptions of the members: once as `model` if all are equal, else as `model` of each
/// entry of `members`.
void add_model_json(const Model& model,
                    const std::function<nlohmann::ordered_json(const Member&)>& describe,
                    nlohmann::ordered_json& json);

/// Epoch and step of a member, whether its weights are averaged, and its temperature.
nlohmann::ordered_json member_json(const Member& member);

/// `shift` and `scale` of each feature or target, with `offset` and `limit` if there are some.
nlohmann::ordered_json scaling_json(const data::Scaling& scaling);

/// scaling_json() of the targets of a regression, with `low` and `high` if predictions are limited.
nlohmann::ordered_json target_scaling_json(const data::Schema& schema);

}  // namespace trainer::apply
