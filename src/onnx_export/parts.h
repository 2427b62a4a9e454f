// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/apply/export.h"

#include "onnx_export/graph.h"

/// The parts of a graph, in the order in which data pass through them.
namespace trainer::onnx_export {

/// Throws Error(kUsage) if the model has no columns that a graph could take as inputs.
void check_columns(const apply::Model& model);

/// Adds an input for each column, and operators that compute the features `[batch, num_features]`
/// as data::encode() does, without scaling. Returns the features. The names of the columns must be
/// reserved.
Name add_columns(GraphBuilder& graph, const data::Schema& schema);

/// Adds an input for the feature matrix, and operators that subtract offsets and clip to limits.
/// Returns the same features as add_columns(). The name must be reserved.
Name add_features(GraphBuilder& graph, const data::Schema& schema, const Name& name);

/// Adds scaling, all layers, and the combination of the members of an ensemble. Returns the scores
/// `[batch, num_outputs]`.
Name add_networks(GraphBuilder& graph, const apply::Model& model, const Name& features);

/// Adds the operators that compute the outputs of the file from the scores. The last node has the
/// result.
void add_outputs(GraphBuilder& graph, const apply::Model& model, apply::ExportOutputs outputs,
                 const Name& scores);

/// Adds the operators and outputs with the names `names`, those of apply::interval_names() or
/// others if columns have these, behind the output `predictions`.
void add_intervals(GraphBuilder& graph, const apply::Model& model, const Name& predictions,
                   const std::vector<Name>& names);

}  // namespace trainer::onnx_export
