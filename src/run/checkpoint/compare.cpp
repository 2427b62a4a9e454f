// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/compare.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "run/checkpoint/checkpoint_format.h"

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using archive::DType;
using archive::List;
using archive::TensorData;
using archive::Value;

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
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      break;
  }
  return bits_text(bytes, archive::element_size(dtype));
}

// Shows two elements that differ; as bits if their texts are equal, as for two kinds of NaN.
std::string pair_text(DType dtype, const std::byte* a, const std::byte* b) {
  const std::string text = element_text(dtype, a);
  if (text != element_text(dtype, b)) {
    return fmt::format("{} and {}", text, element_text(dtype, b));
  }
  const std::size_t size = archive::element_size(dtype);
  return fmt::format("{} and {}", bits_text(a, size), bits_text(b, size));
}

/// Returns the text that represents a value in messages.
struct Text {
  std::string operator()(std::monostate /*none*/) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::to_string(value); }
  std::string operator()(double value) const { return fmt::to_string(value); }
  std::string operator()(const std::string& value) const { return in_quotes(value); }
  std::string operator()(const TensorData& value) const { return type_text(value); }
  std::string operator()(const List& value) const {
    return fmt::format("a list of {}", value.size());
  }
  std::string operator()(const Dict& value) const {
    return fmt::format("a dict of {}", value.size());
  }
};

/// Compares values one after the other until the first difference, and ignores later ones.
class Comparison {
 public:
  void values(const std::string& what, const Value& a, const Value& b) {
    if (found_) return;
    if (a.storage().index() != b.storage().index()) return report_unless_equal(what, a, b);
    if (const auto* dict = a.get_if<Dict>()) return entries(what, *dict, *b.get_if<Dict>());
    if (const auto* list = a.get_if<List>()) return lists(what, *list, *b.get_if<List>());
    if (const auto* tensor = a.get_if<TensorData>()) {
      return tensors(what, *tensor, *b.get_if<TensorData>());
    }
    if (const auto* number = a.get_if<double>()) return numbers(what, *number, *b.get_if<double>());
    report_unless_equal(what, a, b);
  }

  // Compares entries by position and name, because the order of a state dict is that of its model.
  void entries(const std::string& what, const Dict& a, const Dict& b) {
    const std::string of = what.empty() ? "" : what + " ";
    for (std::size_t i = 0; !found_ && i < std::max(a.size(), b.size()); ++i) {
      // If each dict lacks the entry of the other, the entry was renamed.
      if (i >= a.size() || (i < b.size() && has(b, a[i].first) && !has(a, b[i].first))) {
        report("{}{}: missing from the first", of, b[i].first);
      } else if (i >= b.size() || (has(a, b[i].first) && !has(b, a[i].first))) {
        report("{}{}: missing from the second", of, a[i].first);
      } else if (a[i].first != b[i].first) {
        report("{}{}: {} at this position in the second", of, a[i].first, b[i].first);
      } else {
        values(of + a[i].first, a[i].second, b[i].second);
      }
    }
  }

  std::optional<std::string> finish() { return std::move(found_); }

 private:
  void numbers(const std::string& what, double a, double b) {
    if (std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b)) return;
    report("{}: {}", what,
           pair_text(DType::kFloat64, reinterpret_cast<const std::byte*>(&a),
                     reinterpret_cast<const std::byte*>(&b)));
  }

  static bool has(const Dict& dict, const std::string& name) {
    return std::any_of(dict.begin(), dict.end(),
                       [&](const auto& entry) { return entry.first == name; });
  }

  void lists(const std::string& what, const List& a, const List& b) {
    if (a.size() != b.size()) return report("number of {}: {} and {}", what, a.size(), b.size());
    for (std::size_t i = 0; !found_ && i < a.size(); ++i) {
      values(fmt::format("{} {}", what, i), a[i], b[i]);
    }
  }

  void tensors(const std::string& what, const TensorData& a, const TensorData& b) {
    if (a.dtype != b.dtype || a.shape != b.shape) return report_unless_equal(what, a, b);
    const std::span bytes_a(a.data, a.num_bytes());
    const std::span bytes_b(b.data, b.num_bytes());
    const auto differs = std::mismatch(bytes_a.begin(), bytes_a.end(), bytes_b.begin()).first;
    if (differs == bytes_a.end()) return;
    const std::size_t size = archive::element_size(a.dtype);
    const std::size_t element = static_cast<std::size_t>(differs - bytes_a.begin()) / size;
    report("{}: element {} is {}", what, element,
           pair_text(a.dtype, a.data + element * size, b.data + element * size));
  }

  // Compares two values by their texts.
  void report_unless_equal(const std::string& what, const Value& a, const Value& b) {
    const std::string first = std::visit(Text(), a.storage());
    const std::string second = std::visit(Text(), b.storage());
    if (first != second) report("{}: {} and {}", what, first, second);
  }

  template <typename... Values>
  void report(fmt::format_string<const Values&...> format, const Values&... values) {
    if (!found_) found_ = fmt::format(format, values...);
  }

  std::optional<std::string> found_;
};

// Returns the order of comparison. Entries that explain others come first: if two runs are at
// different steps, all weights differ. The format version depends on all others.
int place_of(const std::string& entry) {
  if (entry == "format_version") return 4;
  if (entry == "progress") return 0;
  if (entry == "optimizer") return 2;
  return entry == "model" ? 3 : 1;
}

// Returns the content of the file without what differs between equal runs: the configuration with
// its output folder, the length of metrics.jsonl, which depends on the digits of times, the paths
// of data files, and the number of threads, which depends on the load of the machine.
Dict comparable(Checkpoint checkpoint) {
  checkpoint.config.clear();
  checkpoint.metrics_bytes = 0;
  checkpoint.num_threads = 1;
  for (data::Fingerprint& file : checkpoint.fingerprints) file.path.clear();
  Dict entries = to_dict(checkpoint);
  using Entry = Dict::value_type;
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return place_of(a.first) < place_of(b.first);
  });
  return entries;
}

}  // namespace

std::optional<std::string> first_difference(const Checkpoint& a, const Checkpoint& b) {
  Comparison comparison;
  comparison.entries("", comparable(a), comparable(b));
  return comparison.finish();
}

}  // namespace trainer::checkpoint
