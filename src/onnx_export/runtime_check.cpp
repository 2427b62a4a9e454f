// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime exports one function by name, which returns a table of all others. The first version
// of that table, with which all later versions begin, is enough here, so no header is needed:
// https://onnxruntime.ai/docs/api/c/struct_ort_api.html.
#include "onnx_export/runtime_check.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "trainer/apply/export_samples.h"
#include "trainer/base/error.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/table/schema/encode.h"

namespace trainer::onnx_export {
namespace {

using apply::Model;
using data::Column;

/// Random rows as inputs of the file, and the features that this program computes from them.
struct Samples {
  std::vector<RuntimeInput> inputs;
  data::Matrix features;
};

Samples feature_samples(const Model& model, int64_t num_rows) {
  data::Matrix features = apply::sample_features(model, num_rows);
  const std::vector<double> numbers = apply::in_file_units(model, features);
  RuntimeInput input{"features", numbers};
  if (!apply::takes_doubles(model.schema)) {
    input.values = std::vector<float>(numbers.begin(), numbers.end());
  }
  return {{std::move(input)}, std::move(features)};
}

// Returns the cells of one column as they are in a data file; a missing text is empty.
RuntimeInput column_input(const data::Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  const auto& cells = std::get<Array<float>>(table.features.values);
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (std::size_t i = index; i < cells.size(); i += table.columns.size()) {
    if (column.kind == data::ColumnKind::kNumeric) {
      numbers.push_back(data::in_file_units(column, cells[i]));
    } else if (std::isnan(cells[i])) {
      texts.emplace_back();
    } else {
      texts.push_back(table.dictionaries[index][static_cast<std::size_t>(cells[i])]);
    }
  }
  if (column.kind != data::ColumnKind::kNumeric) return {column.name, std::move(texts)};
  if (column.offset != 0) return {column.name, std::move(numbers)};
  return {column.name, std::vector<float>(numbers.begin(), numbers.end())};
}

Samples column_samples(const Model& model, int64_t num_rows) {
  data::Table table = apply::sample_cells(model, num_rows);
  Samples samples;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    samples.inputs.push_back(column_input(table, i));
  }
  samples.features =
      data::encode(model.schema.columns, model.schema.unknown_category, table).features;
  return samples;
}

}  // namespace

std::string try_in_runtime(const Model& model, const apply::ExportOptions& options,
                           const std::string& bytes, const std::vector<std::string>& outputs,
                           const std::filesystem::path& path) {
  const int64_t num_rows = options.batch.value_or(32);
  const Samples samples = options.inputs == apply::ExportInputs::kColumns
                              ? column_samples(model, num_rows)
                              : feature_samples(model, num_rows);
  std::optional<RuntimeAnswer> answer;
  try {
    answer = run_with_runtime(bytes, samples.inputs, num_rows, outputs);
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: ONNX Runtime refuses the exported file: {}; use a newer one, or "
                            "report it as a bug in trainer",
                            path.string(), error.what()));
  }
  if (!answer) return "outputs not compared: ONNX Runtime was not found";
  const std::string program = "ONNX Runtime " + answer->version;
  apply::check_outputs(model, path, program,
                       apply::expected_outputs(model, samples.features, options.outputs),
                       answer->values.front());
  const std::vector<std::vector<double>> intervals =
      apply::interval_outputs(model, answer->values.front());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    apply::check_outputs(model, path, program, intervals[i], answer->values[i + 1]);
  }
  return fmt::format("outputs of {} rows equal within {:.1g} in {}", num_rows,
                     apply::kExportTolerance, program);
}

namespace {

const OptionalLibrary kRuntime = {"TRAINER_ONNXRUNTIME_LIBRARY", "onnxruntime"};

struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};

/// The indices of functions in the table.
enum Function : std::size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorAsOrtValue = 48,
  kGetTensorMutableData = 51,
  kFillStringTensor = 52,
  kGetTensorElementType = 60,
  kGetTensorShapeElementCount = 64,
  kGetTensorTypeAndShape = 65,
  kGetAllocatorWithDefaultOptions = 78,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTensorTypeAndShapeInfo = 99,
  kReleaseSessionOptions = 100
};

constexpr int kOnlyErrors = 3;  // OrtLoggingLevel

using Handle = std::unique_ptr<void, std::function<void(void*)>>;

class RuntimeApi {
 public:
  explicit RuntimeApi(const void* const* table) : table_(table) {}

  /// Calls a function that returns a status. Throws std::runtime_error if it is an error.
  template <class... Arguments>
  void call(Function function, Arguments... arguments) const {
    void* status = at<void*(Arguments...)>(function)(arguments...);
    if (status == nullptr) return;
    const std::string message = at<const char*(const void*)>(kGetErrorMessage)(status);
    at<void(void*)>(kReleaseStatus)(status);
    throw std::runtime_error(message);
  }

  /// Returns the object that `function` creates from the arguments. The handle releases it with the
  /// function `release`.
  template <class... Arguments>
  Handle make(Function function, Function release, Arguments... arguments) const {
    void* made = nullptr;
    call(function, arguments..., &made);
    return own(made, release);
  }

  /// Returns a handle that releases `object` with the function `release`.
  Handle own(void* object, Function release) const { return {object, at<void(void*)>(release)}; }

 private:
  template <class Signature>
  Signature* at(Function function) const {
    return reinterpret_cast<Signature*>(const_cast<void*>(table_[function]));
  }

  const void* const* table_;
};

/// Opens ONNX Runtime; nullptr if it is not installed. Throws Error(kUsage) if the environment
/// variable names something else.
const ApiBase* open_runtime() {
  std::string problem;
  void* library = open_library(kRuntime, problem);
  const char* named = std::getenv(kRuntime.variable);
  const bool is_named = named != nullptr && *named != '\0';
  if (library == nullptr && !is_named) return nullptr;
  void* base = library == nullptr ? nullptr : dlsym(library, "OrtGetApiBase");
  if (base != nullptr) return reinterpret_cast<const ApiBase* (*)()>(base)();
  if (library != nullptr) problem = "another library";
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected the path of {}, got {}; correct it, or unset it",
                          kRuntime.variable, library_file_name(kRuntime.stem), problem));
}

// ONNX Runtime uses the same numbers for element types as the ONNX format.
template <class Value>
constexpr int element_type() {
  if (std::is_same_v<Value, float>) return onnx::TensorProto::FLOAT;
  return std::is_same_v<Value, double> ? onnx::TensorProto::DOUBLE : onnx::TensorProto::STRING;
}

/// Creates tensors in memory of ONNX Runtime with the values of an input.
class TensorMaker {
 public:
  TensorMaker(const RuntimeApi& api, int64_t num_rows) : api_(api), num_rows_(num_rows) {
    api_.call(kGetAllocatorWithDefaultOptions, &allocator_);
  }

  template <class Value>
  Handle operator()(const std::vector<Value>& values) const {
    const int64_t shape[] = {num_rows_, static_cast<int64_t>(values.size()) / num_rows_};
    const int64_t* const extents = shape;
    Handle tensor = api_.make(kCreateTensorAsOrtValue, kReleaseValue, allocator_, extents,
                              std::size_t{2}, element_type<Value>());
    fill(tensor.get(), values);
    return tensor;
  }

 private:
  template <class Number>
  void fill(void* tensor, const std::vector<Number>& values) const {
    void* data = nullptr;
    api_.call(kGetTensorMutableData, tensor, &data);
    std::copy(values.begin(), values.end(), static_cast<Number*>(data));
  }

  void fill(void* tensor, const std::vector<std::string>& values) const {
    std::vector<const char*> texts;
    texts.reserve(values.size());
    for (const std::string& value : values) texts.push_back(value.c_str());
    const char* const* const first = texts.data();
    api_.call(kFillStringTensor, tensor, first, texts.size());
  }

  const RuntimeApi& api_;
  int64_t num_rows_;
  void* allocator_ = nullptr;  // the default allocator, owned by ONNX Runtime
};

std::vector<double> values_of(const RuntimeApi& api, void* tensor) {
  const Handle shape = api.make(kGetTensorTypeAndShape, kReleaseTensorTypeAndShapeInfo, tensor);
  std::size_t count = 0;
  int type = 0;
  api.call(kGetTensorShapeElementCount, shape.get(), &count);
  api.call(kGetTensorElementType, shape.get(), &type);
  void* data = nullptr;
  api.call(kGetTensorMutableData, tensor, &data);
  if (type == onnx::TensorProto::FLOAT)
    return {static_cast<float*>(data), static_cast<float*>(data) + count};
  if (type == onnx::TensorProto::DOUBLE)
    return {static_cast<double*>(data), static_cast<double*>(data) + count};
  if (type == onnx::TensorProto::BOOL)
    return {static_cast<bool*>(data), static_cast<bool*>(data) + count};
  throw std::runtime_error(fmt::format("an output of element type {}", type));
}

}  // namespace

std::optional<RuntimeAnswer> run_with_runtime(const std::string& model,
                                              const std::vector<RuntimeInput>& inputs,
                                              int64_t num_rows,
                                              const std::vector<std::string>& outputs) {
  const ApiBase* base = open_runtime();
  if (base == nullptr) return std::nullopt;
  const RuntimeApi api(base->get_api(1));
  const char* const log_name = "trainer";
  const Handle environment = api.make(kCreateEnv, kReleaseEnv, kOnlyErrors, log_name);
  const Handle options = api.make(kCreateSessionOptions, kReleaseSessionOptions);
  api.call(kSetIntraOpNumThreads, options.get(), 1);
  const void* const bytes = model.data();
  const Handle session = api.make(kCreateSessionFromArray, kReleaseSession, environment.get(),
                                  bytes, model.size(), options.get());
  const TensorMaker make_tensor(api, num_rows);
  std::vector<Handle> tensors;
  std::vector<const char*> names;
  std::vector<void*> values;
  for (const RuntimeInput& input : inputs) {
    tensors.push_back(std::visit(make_tensor, input.values));
    names.push_back(input.name.c_str());
    values.push_back(tensors.back().get());
  }
  std::vector<const char*> wanted;
  wanted.reserve(outputs.size());
  for (const std::string& output : outputs) wanted.push_back(output.c_str());
  const char* const* const first_name = names.data();
  void* const* const first_value = values.data();
  const void* const no_options = nullptr;
  std::vector<void*> answers(wanted.size());
  const char* const* const first_wanted = wanted.data();
  api.call(kRun, session.get(), no_options, first_name, first_value, values.size(), first_wanted,
           wanted.size(), answers.data());
  RuntimeAnswer answer{base->version(), {}};
  answer.values.reserve(answers.size());
  for (void* tensor : answers) {
    const Handle owner = api.own(tensor, kReleaseValue);
    answer.values.push_back(values_of(api, tensor));
  }
  return answer;
}

}  // namespace trainer::onnx_export
