// SPDX-License-Identifier: Apache-2.0
#include "onnx_export/graph.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/apply/export_weights.h"
#include "trainer/apply/model.h"

namespace trainer::onnx_export {
namespace {

onnx::AttributeProto named(const char* name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

onnx::AttributeProto attribute(const char* name, int64_t value) {
  onnx::AttributeProto result = named(name, onnx::AttributeProto::INT);
  result.set_i(value);
  return result;
}

onnx::AttributeProto attribute(const char* name, float value) {
  onnx::AttributeProto result = named(name, onnx::AttributeProto::FLOAT);
  result.set_f(value);
  return result;
}

onnx::AttributeProto attribute(const char* name, std::span<const int64_t> values) {
  onnx::AttributeProto result = named(name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) result.add_ints(value);
  return result;
}

onnx::AttributeProto attribute(const char* name, std::span<const std::string> values) {
  onnx::AttributeProto result = named(name, onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) result.add_strings(value);
  return result;
}

void GraphBuilder::describe(onnx::ValueInfoProto& value, const Name& name, int32_t type,
                            int64_t width, const std::string& meaning) const {
  value.set_name(name);
  value.set_doc_string(meaning);
  onnx::TypeProto::Tensor& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  auto& rows = *tensor.mutable_shape()->add_dim();
  if (batch_) {
    rows.set_dim_value(*batch_);
  } else {
    rows.set_dim_param("batch");
  }
  tensor.mutable_shape()->add_dim()->set_dim_value(width);
}

Name GraphBuilder::free_name(const Name& wish) {
  Name name = wish;
  for (int i = 1; !reserve(name); ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

Name GraphBuilder::input(const Name& name, int32_t type, int64_t width,
                         const std::string& meaning) {
  describe(*graph_.add_input(), name, type, width, meaning);
  return name;
}

Name GraphBuilder::tensor(const Name& wish, const Shape& shape, int32_t type,
                          std::span<const std::byte> bytes) {
  onnx::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(free_name(wish));
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  // ONNX requires little-endian, the byte order of this machine.
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor.name();
}

Name GraphBuilder::constant(const Name& wish, const Shape& shape, std::span<const float> values) {
  return tensor(wish, shape, onnx::TensorProto::FLOAT, std::as_bytes(values));
}

Name GraphBuilder::constant(const Name& wish, const Shape& shape, std::span<const int64_t> values) {
  return tensor(wish, shape, onnx::TensorProto::INT64, std::as_bytes(values));
}

Name GraphBuilder::constant(const Name& wish, const Shape& shape, std::span<const double> values) {
  return tensor(wish, shape, onnx::TensorProto::DOUBLE, std::as_bytes(values));
}

Name GraphBuilder::from_half(const checkpoint::NamedTensor& weight) {
  const float* const values = apply::float_values(weight.tensor);
  std::vector<uint16_t> halves(static_cast<std::size_t>(weight.tensor.num_elements()));
  std::transform(values, values + halves.size(), halves.begin(), apply::to_half);
  return cast(tensor(weight.name, weight.tensor.shape, onnx::TensorProto::FLOAT16,
                     std::as_bytes(std::span(halves))),
              onnx::TensorProto::FLOAT);
}

Name GraphBuilder::from_int8(const checkpoint::NamedTensor& weight) {
  const Shape& shape = weight.tensor.shape;
  const std::span<const float> values(apply::float_values(weight.tensor),
                                      static_cast<std::size_t>(weight.tensor.num_elements()));
  const apply::Int8Rows rows = apply::to_int8(values, shape.back());
  const int64_t num_rows = std::ssize(rows.scales);
  const Name numbers = tensor(weight.name, {num_rows, shape.back()}, onnx::TensorProto::INT8,
                              std::as_bytes(std::span(rows.values)));
  Name matrix =
      node("DequantizeLinear", {numbers, constant(weight.name + ".scale", {num_rows}, rows.scales)},
           {attribute("axis", int64_t{0})});
  if (shape.size() == 2) return matrix;
  return node("Reshape", {matrix, constant("shape", {std::ssize(shape)}, shape)});
}

Name GraphBuilder::weight(const checkpoint::NamedTensor& weight) {
  if (apply::is_matrix(weight)) {
    if (weights_ == apply::WeightType::kFloat16) return from_half(weight);
    if (weights_ == apply::WeightType::kInt8) return from_int8(weight);
  }
  return tensor(weight.name, weight.tensor.shape, onnx::TensorProto::FLOAT,
                {weight.tensor.data, weight.tensor.num_bytes()});
}

Name GraphBuilder::node(const char* op, const std::vector<Name>& inputs,
                        const std::vector<onnx::AttributeProto>& attributes, const char* domain) {
  onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(op);
  if (*domain != '\0') node.set_domain(domain);
  for (const Name& input : inputs) node.add_input(input);
  for (const onnx::AttributeProto& attribute : attributes) *node.add_attribute() = attribute;
  node.set_name(free_name(fmt::format("{}.{}", graph_.node_size() - 1, op)));
  node.add_output(free_name(node.name() + ".output"));
  return node.output(0);
}

void GraphBuilder::output(const Name& name, int32_t type, int64_t width,
                          const std::string& meaning) {
  graph_.mutable_node(graph_.node_size() - 1)->set_output(0, name);
  describe(*graph_.add_output(), name, type, width, meaning);
}

}  // namespace trainer::onnx_export
