// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::onnx_export {

/// The name of what a node takes or makes.
using Name = std::string;
using Shape = std::vector<int64_t>;

onnx::AttributeProto attribute(const char* name, int64_t value);
onnx::AttributeProto attribute(const char* name, float value);
onnx::AttributeProto attribute(const char* name, std::span<const int64_t> values);
onnx::AttributeProto attribute(const char* name, std::span<const std::string> values);

/// Adds to a graph. Names of inputs and outputs are the caller's; others give way to them.
class GraphBuilder {
 public:
  /// `batch` is the number of rows of inputs and outputs; none: any.
  GraphBuilder(onnx::GraphProto& graph, std::optional<int64_t> batch)
      : graph_(graph), batch_(batch) {}

  /// Keeps a name for an input or output; false when it is taken.
  bool reserve(const Name& name) { return names_.insert(name).second; }

  /// An input `[batch, width]` of a type of onnx::TensorProto, whose name is reserved.
  Name input(const Name& name, int32_t type, int64_t width, const std::string& meaning);

  Name constant(const Name& wish, const Shape& shape, std::span<const float> values);
  Name constant(const Name& wish, const Shape& shape, std::span<const int64_t> values);
  Name constant(const Name& wish, const Shape& shape, std::span<const double> values);
  Name number(const Name& wish, float value) { return constant(wish, {}, std::span(&value, 1)); }
  Name weight(const checkpoint::NamedTensor& weight);

  /// A node with one output; `domain` is ONNX's own where it is empty.
  Name node(const char* op, const std::vector<Name>& inputs,
            const std::vector<onnx::AttributeProto>& attributes = {}, const char* domain = "");

  /// `value` as elements of a type of onnx::TensorProto.
  Name cast(const Name& value, int64_t type) {
    return node("Cast", {value}, {attribute("to", type)});
  }

  /// Makes what the last node has made the output `[batch, width]`, whose name is reserved, of a
  /// type of onnx::TensorProto.
  void output(const Name& name, int32_t type, int64_t width, const std::string& meaning);

 private:
  Name free_name(const Name& wish);
  Name tensor(const Name& wish, const Shape& shape, int32_t type, std::span<const std::byte> bytes);

  void describe(onnx::ValueInfoProto& value, const Name& name, int32_t type, int64_t width,
                const std::string& meaning) const;

  onnx::GraphProto& graph_;
  std::optional<int64_t> batch_;
  std::set<Name> names_;
};

}  // namespace trainer::onnx_export
