// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include "trainer/apply/export.h"
#include "trainer/apply/export_weights.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/version.h"
#include "trainer/onnx_export/api.h"

#include "onnx_export/parts.h"
#include "onnx_export/runtime_check.h"

namespace trainer::onnx_export {
namespace {

namespace fs = std::filesystem;
using apply::ExportInputs;
using apply::ExportOptions;
using apply::Model;

// This opset is of 2021, so ONNX Runtime reads it since 1.6, and so do converters for phones and
// accelerators that do not support newer ones. It has all operators that a network needs, or they
// can be composed.
constexpr int64_t kOpset = 13;
constexpr int64_t kMlOpset = 2;    // version of ai.onnx.ml, of the same time
constexpr int64_t kIrVersion = 7;  // version of the file format, of the same time

bool takes_columns(const ExportOptions& options) {
  return options.inputs == ExportInputs::kColumns;
}

void check_size(const Model& model) {
  std::size_t num_bytes = 0;
  for (const apply::Member& member : model.members) {
    for (const checkpoint::NamedTensor& weight : member.weights) {
      num_bytes += weight.tensor.num_bytes();
    }
  }
  constexpr std::size_t kMaxBytes = std::size_t{1} << 31;
  constexpr std::size_t kDescription = std::size_t{1} << 20;
  if (num_bytes + kDescription < kMaxBytes) return;
  throw Error(ErrorKind::kRuntime, fmt::format("{}: an ONNX file is limited to 2 GiB, the weights "
                                               "need {}; use --format safetensors or torchscript",
                                               model.file.string(), human_bytes(num_bytes)));
}

void add_opset(onnx::ModelProto& proto, const char* domain, int64_t version) {
  onnx::OperatorSetIdProto& opset = *proto.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

std::string output_meaning(const Model& model, const ExportOptions& options) {
  if (model.schema.task == config::Task::kRegression) {
    return fmt::format("{}, in the units of the data", joined(model.schema.target_names, ", "));
  }
  if (apply::output_width(model, options.outputs) == 1) {
    return fmt::format("for the class {}", model.schema.labels.back());
  }
  return fmt::format("for the classes {}", fmt::join(model.schema.labels, ", "));
}

/// Reserves the name of an output, and changes it if a column has the same name.
Name reserved_output(GraphBuilder& graph, Name name) {
  while (!graph.reserve(name)) name += "_of_model";
  return name;
}

void fill_graph(onnx::GraphProto& proto, const Model& model, const ExportOptions& options) {
  proto.set_name("mlp");
  GraphBuilder graph(proto, options.batch, options.weights);
  Name features = "features";
  if (takes_columns(options)) {
    for (const data::Column& column : model.schema.columns) graph.reserve(column.name);
  } else {
    graph.reserve(features);
  }
  const Name output = reserved_output(graph, apply::output_name(model, options.outputs));
  std::vector<Name> intervals;
  for (const Name& name : apply::interval_names(model)) {
    intervals.push_back(reserved_output(graph, name));
  }
  features = takes_columns(options) ? add_columns(graph, model.schema)
                                    : add_features(graph, model.schema, features);
  const Name scores = add_networks(graph, model, features);
  add_outputs(graph, model, options.outputs, scores);
  graph.output(
      output,
      apply::gives_doubles(model.schema) ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT,
      apply::output_width(model, options.outputs), output_meaning(model, options));
  add_intervals(graph, model, output, intervals);
}

onnx::ModelProto make_model(const Model& model, const ExportOptions& options) {
  onnx::ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("trainer");
  proto.set_producer_version(build_info().version);
  proto.set_doc_string(fmt::format("Multilayer perceptron trained by trainer, from {}, {}",
                                   model.file.filename().string(), apply::epoch_text(model)));
  add_opset(proto, "", kOpset);
  if (takes_columns(options)) add_opset(proto, "ai.onnx.ml", kMlOpset);
  for (const auto& [name, text] : apply::export_metadata(model)) {
    onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
    entry.set_key(name);
    entry.set_value(text);
  }
  fill_graph(*proto.mutable_graph(), model, options);
  return proto;
}

// Describes an input or output as it is in the file, for the report.
apply::TensorInfo port_of(const onnx::ValueInfoProto& value) {
  const onnx::TypeProto::Tensor& tensor = value.type().tensor_type();
  std::string extents;
  for (const auto& dim : tensor.shape().dim()) {
    extents += extents.empty() ? "" : ", ";
    extents += dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value());
  }
  const char* type = tensor.elem_type() == onnx::TensorProto::STRING   ? "string"
                     : tensor.elem_type() == onnx::TensorProto::BOOL   ? "bool"
                     : tensor.elem_type() == onnx::TensorProto::DOUBLE ? "float64"
                                                                       : "float32";
  return {value.name(), fmt::format("{} [{}]", type, extents)};
}

/// Reads the written file back, runs all checks of the ONNX library, and returns the model.
onnx::ModelProto checked(const fs::path& written, const std::string& bytes, const fs::path& path) {
  std::ifstream stream(written, std::ios::binary);
  const std::string again{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  onnx::ModelProto proto;
  if (again != bytes || !proto.ParseFromString(again)) {
    throw Error(ErrorKind::kFileSystem, fmt::format("{}: the file read back differs from what was "
                                                    "written; check the disk or its file system",
                                                    path.string()));
  }
  try {
    onnx::checker::check_model(proto);
    onnx::ShapeInferenceOptions strict;
    strict.check_type = true;
    strict.error_mode = 1;
    onnx::shape_inference::InferShapes(proto, onnx::OpSchemaRegistry::Instance(), strict);
  } catch (const std::exception& error) {
    throw Error(
        ErrorKind::kRuntime,
        fmt::format(
            "{}: ONNX rejected the exported file: {}; this is a bug in trainer, please report it",
            path.string(), error.what()));
  }
  return proto;
}

apply::ExportReport write(const Model& model, const ExportOptions& options, const fs::path& path) {
  if (takes_columns(options)) check_columns(model);
  check_size(model);
  const std::string bytes = make_model(model, options).SerializeAsString();
  AtomicFile file(path);
  file.write(bytes);
  const onnx::ModelProto proto = checked(file.flushed(), bytes, path);
  std::vector<std::string> outputs;
  for (const auto& output : proto.graph().output()) outputs.push_back(output.name());
  const std::string tried = try_in_runtime(apply::with_stored_weights(model, options.weights),
                                           options, bytes, outputs, path);
  file.commit();
  apply::ExportReport report;
  report.format = fmt::format("ONNX, opset {}", kOpset);
  const auto& graph = proto.graph();
  std::transform(graph.input().begin(), graph.input().end(), std::back_inserter(report.inputs),
                 port_of);
  std::transform(graph.output().begin(), graph.output().end(), std::back_inserter(report.outputs),
                 port_of);
  report.checked = {"read back, ONNX checker, shape inference", tried};
  return report;
}

}  // namespace
}  // namespace trainer::onnx_export

const trainer::onnx_export::Api* trainer_onnx_api() {
  static const trainer::onnx_export::Api api{TRAINER_VERSION, trainer::onnx_export::write};
  return &api;
}
