// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/apply/export.h"

#include "onnx_export/graph.h"

/// The parts of a graph, in the order in which data go through them.
namespace trainer::onnx_export {

/// Throws Error(kUsage) where a graph cannot take the columns as they are.
void check_columns(const apply::Model& model);

/// Inputs for the columns, and the features `[batch, num_features]` that data::encode would make of
/// them, not scaled. The names of the columns are reserved.
Name add_columns(GraphBuilder& graph, const data::Schema& schema);

/// The input called `name`, which is reserved, without the offsets of features and within their
/// limits: the features that add_columns makes.
Name add_features(GraphBuilder& graph, const data::Schema& schema, const Name& name);

/// Scaling and all layers, and of an ensemble how its members are combined: the scores `[batch,
/// num_outputs]` of features.
Name add_networks(GraphBuilder& graph, const apply::Model& model, const Name& features);

/// What the file promises, made of scores by the last node.
void add_outputs(GraphBuilder& graph, const apply::Model& model, apply::ExportOutputs outputs,
                 const Name& scores);

}  // namespace trainer::onnx_export
