// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/compare.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/format.h"

namespace trainer::checkpoint {
namespace {

using archive::DType;
using archive::TensorData;

template <typename T>
T element_at(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::string bits_text(const std::byte* bytes, std::size_t size) {
  std::string text = "0x";
  for (std::size_t i = size; i-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<int>(bytes[i]));
  return text;
}

std::string element_text(DType dtype, const std::byte* bytes) {
  switch (dtype) {
    case DType::kFloat32:
      return fmt::format("{}", element_at<float>(bytes));
    case DType::kFloat64:
      return fmt::format("{}", element_at<double>(bytes));
    case DType::kInt64:
      return fmt::format("{}", element_at<int64_t>(bytes));
    case DType::kInt32:
      return fmt::format("{}", element_at<int32_t>(bytes));
    default:
      return bits_text(bytes, archive::element_size(dtype));
  }
}

// Two elements that differ; as bits where their texts do not show it, as with two kinds of NaN.
std::string pair_text(DType dtype, const std::byte* a, const std::byte* b) {
  const std::string text = element_text(dtype, a);
  if (text != element_text(dtype, b)) {
    return fmt::format("{} and {}", text, element_text(dtype, b));
  }
  const std::size_t size = archive::element_size(dtype);
  return fmt::format("{} and {}", bits_text(a, size), bits_text(b, size));
}

/// Compares one thing after the other until two differ. What comes later is not looked at.
class Comparison {
 public:
  void number(const std::string& what, int64_t a, int64_t b) {
    if (a != b) report("{}: {} and {}", what, a, b);
  }

  void number(const std::string& what, double a, double b) {
    if (std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b)) return;
    report("{}: {}", what,
           pair_text(DType::kFloat64, reinterpret_cast<const std::byte*>(&a),
                     reinterpret_cast<const std::byte*>(&b)));
  }

  void words(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) report("{}: {} and {}", what, a, b);
  }

  void name(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) report("{}: {} and {}", what, in_quotes(a), in_quotes(b));
  }

  void names(const std::string& what, const std::vector<std::string>& a,
             const std::vector<std::string>& b) {
    number("number of " + what, count(a), count(b));
    for (std::size_t i = 0; !found_ && i < a.size(); ++i) {
      name(fmt::format("{} {}", what, i), a[i], b[i]);
    }
  }

  void floats(const std::string& what, const std::vector<float>& a, const std::vector<float>& b) {
    tensor(what, as_tensor(DType::kFloat32, a), as_tensor(DType::kFloat32, b));
  }

  void doubles(const std::string& what, const std::vector<double>& a,
               const std::vector<double>& b) {
    tensor(what, as_tensor(DType::kFloat64, a), as_tensor(DType::kFloat64, b));
  }

  void tensor(const std::string& what, const TensorData& a, const TensorData& b) {
    if (a.dtype != b.dtype || a.shape != b.shape) {
      report("{}: {} and {}", what, type_text(a), type_text(b));
      return;
    }
    const std::span bytes_a(a.data, a.num_bytes());
    const std::span bytes_b(b.data, b.num_bytes());
    const auto differs = std::mismatch(bytes_a.begin(), bytes_a.end(), bytes_b.begin()).first;
    if (differs == bytes_a.end()) return;
    const std::size_t size = archive::element_size(a.dtype);
    const std::size_t element = static_cast<std::size_t>(differs - bytes_a.begin()) / size;
    report("{}: element {} is {}", what, element,
           pair_text(a.dtype, a.data + element * size, b.data + element * size));
  }

  // By place and name: the order of a state is that of its model.
  void tensors(const std::string& what, const std::vector<NamedTensor>& a,
               const std::vector<NamedTensor>& b) {
    each(what, a, b, [&](const NamedTensor& first, const NamedTensor& second) {
      tensor(what + " " + first.name, first.tensor, second.tensor);
    });
  }

  void moments(const std::vector<Moment>& a, const std::vector<Moment>& b) {
    each("optimizer moment", a, b, [&](const Moment& first, const Moment& second) {
      tensors("optimizer moment " + first.name, first.tensors, second.tensors);
    });
  }

  std::optional<std::string> finish() { return std::move(found_); }

 private:
  template <typename T>
  static int64_t count(const std::vector<T>& values) {
    return static_cast<int64_t>(values.size());
  }

  template <typename T>
  static TensorData as_tensor(DType dtype, const std::vector<T>& values) {
    return {dtype, {count(values)}, reinterpret_cast<const std::byte*>(values.data()), nullptr};
  }

  template <typename Named, typename Compare>
  void each(const std::string& what, const std::vector<Named>& a, const std::vector<Named>& b,
            Compare compare) {
    for (std::size_t i = 0; !found_ && i < std::max(a.size(), b.size()); ++i) {
      if (i >= a.size()) {
        report("{} {}: missing from the first", what, b[i].name);
      } else if (i >= b.size()) {
        report("{} {}: missing from the second", what, a[i].name);
      } else if (a[i].name != b[i].name) {
        report("{} {}: {} at this position in the second", what, a[i].name, b[i].name);
      } else {
        compare(a[i], b[i]);
      }
    }
  }

  template <typename... Values>
  void report(fmt::format_string<const Values&...> format, const Values&... values) {
    if (!found_) found_ = fmt::format(format, values...);
  }

  std::optional<std::string> found_;
};

void compare_totals(Comparison& compare, const std::string& what, const Totals& a,
                    const Totals& b) {
  compare.number(what + " loss_sum", a.loss_sum, b.loss_sum);
  compare.number(what + " num_correct", a.num_correct, b.num_correct);
  compare.number(what + " num_samples", a.num_samples, b.num_samples);
}

void compare_scalers(Comparison& compare, const std::optional<schedule::LossScaleState>& a,
                     const std::optional<schedule::LossScaleState>& b) {
  const schedule::LossScaleState none;
  compare.number("scale", (a ? *a : none).scale, (b ? *b : none).scale);
  compare.number("good_steps", (a ? *a : none).good_steps, (b ? *b : none).good_steps);
}

void compare_plateaus(Comparison& compare, const std::optional<schedule::PlateauState>& a,
                      const std::optional<schedule::PlateauState>& b) {
  const schedule::PlateauState none;
  const schedule::PlateauState& first = a ? *a : none;
  const schedule::PlateauState& second = b ? *b : none;
  compare.number("plateau best", first.best.value_or(0), second.best.value_or(0));
  compare.number("plateau bad_epochs", first.bad_epochs, second.bad_epochs);
  compare.number("plateau cooldown_left", first.cooldown_left, second.cooldown_left);
  compare.number("plateau num_reductions", first.num_reductions, second.num_reductions);
}

void compare_states(Comparison& compare, const RunState& a, const RunState& b) {
  compare.number("epoch", a.position.epoch, b.position.epoch);
  compare.number("step", a.position.step, b.position.step);
  compare.number("samples_in_epoch", a.position.samples_in_epoch, b.position.samples_in_epoch);
  compare_totals(compare, "epoch_totals", a.epoch_totals, b.epoch_totals);
  compare_totals(compare, "interval_totals", a.interval_totals, b.interval_totals);
  const auto epoch = [](const std::optional<Best>& best) {
    return best ? fmt::format("{}", best->epoch) : "none";
  };
  compare.words("best epoch", epoch(a.best), epoch(b.best));
  compare.number("best value", a.best.value_or(Best()).value, b.best.value_or(Best()).value);
  compare.number("epochs_without_improvement", a.epochs_without_improvement,
                 b.epochs_without_improvement);
  compare.number("skipped_steps", a.recoveries.skipped_steps, b.recoveries.skipped_steps);
  compare.number("rollbacks", a.recoveries.rollbacks, b.recoveries.rollbacks);
  compare.number("overflowed_steps", a.recoveries.overflowed_steps, b.recoveries.overflowed_steps);
  compare.number("out_of_memory", a.recoveries.out_of_memory, b.recoveries.out_of_memory);
  compare.number("rows_at_once", a.recoveries.micro_batch_size, b.recoveries.micro_batch_size);
  compare.number("has_fallen_back", static_cast<int64_t>(a.recoveries.has_fallen_back),
                 static_cast<int64_t>(b.recoveries.has_fallen_back));
  compare_scalers(compare, a.scaler, b.scaler);
  compare_plateaus(compare, a.plateau, b.plateau);
}

std::vector<float> numbers_of(const std::optional<data::Limits>& limits) {
  return limits ? std::vector<float>{limits->low, limits->high} : std::vector<float>();
}

// Kinds, and what marks missing cells, follow from the names of the features.
void compare_columns(Comparison& compare, const std::vector<data::Column>& a,
                     const std::vector<data::Column>& b) {
  const auto names = [](const std::vector<data::Column>& columns) {
    std::vector<std::string> result;
    result.reserve(columns.size());
    for (const data::Column& column : columns) result.push_back(column.name);
    return result;
  };
  const auto fills = [](const std::vector<data::Column>& columns) {
    std::vector<float> result;
    result.reserve(columns.size());
    for (const data::Column& column : columns) result.push_back(column.fill.value_or(0));
    return result;
  };
  constexpr auto kNormal = data::QuantileScore::kNormal;
  compare.names("schema columns", names(a), names(b));
  compare.floats("schema fill", fills(a), fills(b));
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::string column = fmt::format("schema column {}", in_quotes(a[i].name));
    compare.number(column + " embedding_size", a[i].embedding_size, b[i].embedding_size);
    compare.names(column + " categories", a[i].categories, b[i].categories);
    compare.floats(column + " quantiles", a[i].quantiles, b[i].quantiles);
    compare.number(column + " normal_scores", int64_t{a[i].quantile_score == kNormal},
                   int64_t{b[i].quantile_score == kNormal});
    compare.number(column + " offset", a[i].offset, b[i].offset);
    compare.floats(column + " limits", numbers_of(a[i].limits), numbers_of(b[i].limits));
  }
}

void compare_schemas(Comparison& compare, const data::Schema& a, const data::Schema& b) {
  const auto task = [](const data::Schema& schema) { return config::to_text(schema.task); };
  compare.words("schema task", task(a), task(b));
  compare.names("schema feature_names", a.feature_names, b.feature_names);
  compare.names("schema target_names", a.target_names, b.target_names);
  compare.names("schema labels", a.labels, b.labels);
  compare.floats("schema shift", a.scaling.shift, b.scaling.shift);
  compare.floats("schema scale", a.scaling.scale, b.scaling.scale);
  compare.floats("schema inverse_limit", a.scaling.inverse_limit, b.scaling.inverse_limit);
  compare.doubles("schema offset", a.scaling.offset, b.scaling.offset);
  compare.doubles("schema target_offset", a.target_scaling.offset, b.target_scaling.offset);
  compare.floats("schema target_shift", a.target_scaling.shift, b.target_scaling.shift);
  compare.number("number of schema target_means", static_cast<int64_t>(a.target_means.size()),
                 static_cast<int64_t>(b.target_means.size()));
  for (std::size_t i = 0; i < std::min(a.target_means.size(), b.target_means.size()); ++i) {
    compare.number(fmt::format("schema target_means {}", i), a.target_means[i], b.target_means[i]);
  }
  compare.floats("schema target_scale", a.target_scaling.scale, b.target_scaling.scale);
  compare.floats("schema target_low", a.target_low, b.target_low);
  compare.floats("schema target_high", a.target_high, b.target_high);
  compare_columns(compare, a.columns, b.columns);
}

// By what is in them: a file may have moved.
void compare_data_files(Comparison& compare, const std::vector<data::Fingerprint>& a,
                        const std::vector<data::Fingerprint>& b) {
  const auto content = [](const std::vector<data::Fingerprint>& files, std::size_t i) {
    if (i >= files.size()) return std::string("missing");
    return data::content_text(files[i]);
  };
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    compare.words(fmt::format("data file {}", i), content(a, i), content(b, i));
  }
}

std::string products_text(const Checkpoint& checkpoint) {
  return checkpoint.bf16_products ? to_text(*checkpoint.bf16_products) : "none";
}

}  // namespace

std::optional<std::string> first_difference(const Checkpoint& a, const Checkpoint& b) {
  // What explains most comes first: of two runs at different steps all weights differ.
  Comparison compare;
  compare_states(compare, a.state, b.state);
  compare.number("num_threads", a.num_threads, b.num_threads);
  compare.words("bf16_products", products_text(a), products_text(b));
  compare_schemas(compare, a.schema, b.schema);
  compare_data_files(compare, a.fingerprints, b.fingerprints);
  compare.words("optimizer", a.optimizer, b.optimizer);
  compare.number("optimizer step", a.optimizer_step, b.optimizer_step);
  compare.tensors("model", a.model, b.model);
  compare.moments(a.moments, b.moments);
  return compare.finish();
}

}  // namespace trainer::checkpoint
