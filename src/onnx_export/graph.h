// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/apply/export.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::onnx_export {

/// The name of a value in a graph: an input, a constant or the output of a node.
using Name = std::string;
using Shape = std::vector<int64_t>;

onnx::AttributeProto attribute(const char* name, int64_t value);
onnx::AttributeProto attribute(const char* name, float value);
onnx::AttributeProto attribute(const char* name, std::span<const int64_t> values);
onnx::AttributeProto attribute(const char* name, std::span<const std::string> values);

/// Adds inputs, constants, nodes and outputs to a graph. The caller chooses the names of inputs and
/// outputs; all other names are changed if they collide.
class GraphBuilder {
 public:
  /// `batch` is the number of rows of inputs and outputs; without it, any number is allowed.
  /// weight() stores matrices as `weights`.
  GraphBuilder(onnx::GraphProto& graph, std::optional<int64_t> batch, apply::WeightType weights)
      : graph_(graph), batch_(batch), weights_(weights) {}

  /// Reserves a name for an input or output. Returns false if it is in use already.
  bool reserve(const Name& name) { return names_.insert(name).second; }

  /// Adds an input `[batch, width]` with the element type `type` (onnx::TensorProto). Its name must
  /// be reserved.
  Name input(const Name& name, int32_t type, int64_t width, const std::string& meaning);

  Name constant(const Name& wish, const Shape& shape, std::span<const float> values);
  Name constant(const Name& wish, const Shape& shape, std::span<const int64_t> values);
  Name constant(const Name& wish, const Shape& shape, std::span<const double> values);
  Name number(const Name& wish, float value) { return constant(wish, {}, std::span(&value, 1)); }
  /// Returns the values of a weight as float32.
  Name weight(const checkpoint::NamedTensor& weight);

  /// Adds a node with one output and returns the name of the output. An empty `domain` is that of
  /// the standard operators.
  Name node(const char* op, const std::vector<Name>& inputs,
            const std::vector<onnx::AttributeProto>& attributes = {}, const char* domain = "");

  /// Converts `value` to the element type `type` (onnx::TensorProto).
  Name cast(const Name& value, int64_t type) {
    return node("Cast", {value}, {attribute("to", type)});
  }

  /// Makes the result of the last node the output `[batch, width]` of the graph, with the element
  /// type `type` (onnx::TensorProto). Its name must be reserved.
  void output(const Name& name, int32_t type, int64_t width, const std::string& meaning);

 private:
  Name free_name(const Name& wish);
  Name tensor(const Name& wish, const Shape& shape, int32_t type, std::span<const std::byte> bytes);

  Name from_half(const checkpoint::NamedTensor& weight);
  Name from_int8(const checkpoint::NamedTensor& weight);

  void describe(onnx::ValueInfoProto& value, const Name& name, int32_t type, int64_t width,
                const std::string& meaning) const;

  onnx::GraphProto& graph_;
  std::optional<int64_t> batch_;
  apply::WeightType weights_;
  std::set<Name> names_;
};

}  // namespace trainer::onnx_export
