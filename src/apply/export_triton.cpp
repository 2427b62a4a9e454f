// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_triton.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/json.h"

namespace trainer::apply {
namespace {

// JSON escapes what a text of Protobuf must not contain in a way that it reads.
std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string data_type(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kTypes = {
      {{"float32", "FP32"}, {"float64", "FP64"}, {"string", "STRING"}, {"bool", "BOOL"}}};
  for (const auto& [name, triton_name] : kTypes) {
    if (type.starts_with(name)) return fmt::format("TYPE_{}", triton_name);
  }
  return "TYPE_INVALID";
}

constexpr std::string_view kAnyRows = "[batch, ";  // of TensorInfo::type

// The extents between brackets, without that of the batch, which Triton adds.
std::string extents(const std::string& type) {
  const std::size_t any = type.find(kAnyRows);
  const std::size_t begin = any == std::string::npos ? type.find('[') + 1 : any + kAnyRows.size();
  return type.substr(begin, type.size() - begin - 1);
}

std::string ports(const char* field, const std::vector<TensorInfo>& tensors) {
  std::string text;
  for (const TensorInfo& tensor : tensors) {
    text += fmt::format("{} {{\n  name: {}\n  data_type: {}\n  dims: [ {} ]\n}}\n", field,
                        quoted(tensor.name), data_type(tensor.type), extents(tensor.type));
  }
  return text;
}

}  // namespace

std::string triton_config(const std::string& name, const ExportReport& report) {
  const bool takes_any = report.inputs.front().type.find(kAnyRows) != std::string::npos;
  constexpr int kMaxRows = 4096;  // of a batch; a request has no more
  return fmt::format("name: {}\nbackend: \"onnxruntime\"\nmax_batch_size: {}\n{}{}{}", quoted(name),
                     takes_any ? kMaxRows : 0, takes_any ? "dynamic_batching { }\n" : "",
                     ports("input", report.inputs), ports("output", report.outputs));
}

}  // namespace trainer::apply
