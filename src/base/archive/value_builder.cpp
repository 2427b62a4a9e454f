// SPDX-License-Identifier: Apache-2.0
#include "base/archive/value_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

#include "base/archive/pickle.h"

namespace trainer::archive {
namespace {

// Turns the nodes of a pickle into values. The numbers of values, bytes of text and copied bytes
// are limited: nodes may be shared, so a small pickle may describe a huge tree.
class Builder {
 public:
  Builder(const FileBuffer& file, const ZipRecords& records, std::string stem, std::string location)
      : file_(file),
        records_(records),
        stem_(std::move(stem)),
        location_(std::move(location)),
        copy_budget_(4 * file.size + kFreeCopyBytes) {}

  Dict build(std::string_view pickle);

 private:
  static constexpr std::size_t kFreeCopyBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxDimensions = 64;
  static constexpr std::size_t kMaxStorageKey = 32;

  // A step on the path to a value: a key of a dict or, if the key is null, a position in a list.
  struct Step {
    std::string_view key;
    std::size_t position = 0;
  };
  // A strided tensor as in Python: shape and strides (in elements) over a storage.
  struct View {
    DType dtype = DType::kFloat32;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    int64_t offset = 0;
    int64_t num_elements = 0;
    std::span<const std::byte> storage;
  };

  [[noreturn]] void fail(const std::string& what) const;
  std::string where() const;
  const Node& node(NodeIndex index) const { return graph_.nodes[index]; }
  void enter(Step step);
  void count_values(std::size_t count);

  Value value(NodeIndex index);
  std::string text(std::string_view text);
  List list(const Node& list);
  Dict dict(const Node& dict);
  std::string_view key(const Node& key) const;
  void check_unique(const Dict& dict) const;

  TensorData tensor(const Node& tensor);
  View view(const Node& tensor) const;
  std::span<const std::byte> record(const Node& key) const;
  int64_t natural_number(NodeIndex index) const;
  std::vector<int64_t> natural_numbers(NodeIndex index) const;
  void measure(View& view) const;
  void check_reach(const View& view) const;
  static bool is_contiguous(const View& view);
  TensorData copy(const View& view);

  FileBuffer file_;
  const ZipRecords& records_;
  std::string stem_;
  std::string location_;
  std::size_t copy_budget_;
  std::size_t num_values_ = 0;
  std::size_t text_bytes_ = 0;
  std::vector<Step> steps_;  // path from the root of the tree to the current value
  NodeGraph graph_;
};

void Builder::fail(const std::string& what) const {
  const std::string path = where();
  throw Error(ErrorKind::kCheckpoint,
              path.empty() ? fmt::format("{}: {}", location_, what)
                           : fmt::format("{}: {}: {}", location_, in_quotes(path), what));
}

// Returns the path of the current value for messages, such as "model.layers.0.weight".
std::string Builder::where() const {
  std::string path;
  for (const Step& step : steps_) {
    if (!path.empty()) path += '.';
    path += step.key.data() != nullptr ? std::string(step.key) : std::to_string(step.position);
  }
  return path;
}

void Builder::count_values(std::size_t count) {
  num_values_ += count;
  if (num_values_ > kMaxObjects)
    fail(fmt::format("the file holds more than {} values", kMaxObjects));
}

void Builder::enter(Step step) {
  if (steps_.size() >= static_cast<std::size_t>(kMaxDepth)) {
    fail(fmt::format("is nested more than {} levels deep", kMaxDepth));
  }
  steps_.push_back(step);
}

Dict Builder::build(std::string_view pickle) {
  graph_ = read_pickle(pickle, location_);
  const Node& root = node(graph_.root);
  if (root.kind != NodeKind::kDict && root.kind != NodeKind::kOrderedDict) {
    fail("expected a dict; save a dict of plain values and tensors");
  }
  return dict(root);
}

Value Builder::value(NodeIndex index) {
  count_values(1);
  const Node& from = node(index);
  switch (from.kind) {
    case NodeKind::kNone:
      return {};
    case NodeKind::kBool:
      return std::get<bool>(from.payload);
    case NodeKind::kInt:
      return std::get<int64_t>(from.payload);
    case NodeKind::kFloat:
      return std::get<double>(from.payload);
    case NodeKind::kText:
      return text(from.text());
    case NodeKind::kTuple:
    case NodeKind::kList:
      return list(from);
    case NodeKind::kDict:
    case NodeKind::kOrderedDict:
      return dict(from);
    case NodeKind::kTensor:
      return tensor(from);
    case NodeKind::kGlobal:
    case NodeKind::kStorage:
      break;
  }
  fail("is neither a plain container, a number, a string nor a tensor");
}

std::string Builder::text(std::string_view text) {
  text_bytes_ += text.size();
  if (text_bytes_ > kMaxTextBytes) {
    fail(fmt::format("the file holds more than {} bytes of strings", kMaxTextBytes));
  }
  return decode_text(text);
}

List Builder::list(const Node& list) {
  List values;
  values.reserve(std::min<std::size_t>(list.items().size(), kMaxObjects - num_values_));
  enter({});
  for (const NodeIndex item : list.items()) {
    values.push_back(value(item));
    ++steps_.back().position;
  }
  steps_.pop_back();
  return values;
}

Dict Builder::dict(const Node& dict) {
  Dict values;
  const std::vector<NodeIndex>& items = dict.items();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    enter({key(node(items[i])), 0});
    // The text is decoded before the call, because the order in which arguments are evaluated is
    // unspecified.
    std::string name = text(steps_.back().key);
    values.emplace_back(std::move(name), value(items[i + 1]));
    steps_.pop_back();
  }
  check_unique(values);
  return values;
}

std::string_view Builder::key(const Node& key) const {
  if (key.kind == NodeKind::kText) return key.text();
  const auto* number = std::get_if<int64_t>(&key.payload);
  fail(fmt::format("a key of this dict is {}, expected a string",
                   number != nullptr ? fmt::format("the int {}", *number) : "not a string"));
}

void Builder::check_unique(const Dict& dict) const {
  std::vector<std::string_view> keys;
  keys.reserve(dict.size());
  for (const auto& [key, value] : dict) keys.emplace_back(key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) fail(fmt::format("duplicate key {}", in_quotes(*twice)));
}

TensorData Builder::tensor(const Node& tensor) {
  const View view = this->view(tensor);
  count_values(view.shape.size());
  const std::size_t size = element_size(view.dtype);
  const std::byte* data = view.storage.data() + static_cast<std::size_t>(view.offset) * size;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % size == 0;
  if (view.num_elements == 0) return {view.dtype, view.shape, view.storage.data(), file_.data};
  if (aligned && is_contiguous(view)) return {view.dtype, view.shape, data, file_.data};
  return copy(view);
}

Builder::View Builder::view(const Node& tensor) const {
  const std::vector<NodeIndex>& fields = tensor.items();
  const Node& storage = node(fields[0]);
  if (storage.kind != NodeKind::kStorage) fail("is a tensor without a storage");
  if (fields.size() == 7 && node(fields[6]).kind != NodeKind::kNone) {
    fail("is a lazily conjugated or negated tensor; save it with .clone()");
  }
  const Node& type = node(storage.items()[1]);
  const std::optional<DType> dtype =
      type.kind == NodeKind::kGlobal ? storage_dtype(type.text()) : std::nullopt;
  if (!dtype) fail("is a tensor without a dtype");

  View view;
  view.dtype = *dtype;
  view.storage = record(node(storage.items()[2]));
  view.offset = natural_number(fields[1]);
  view.shape = natural_numbers(fields[2]);
  view.strides = natural_numbers(fields[3]);
  const auto num_stored = static_cast<std::size_t>(natural_number(storage.items()[4]));
  const std::size_t size = element_size(view.dtype);
  if (view.storage.size() % size != 0 || view.storage.size() / size != num_stored) {
    fail(fmt::format("claims {} elements of {}, but its record has {} bytes", num_stored,
                     dtype_name(view.dtype), view.storage.size()));
  }
  measure(view);
  check_reach(view);
  return view;
}

std::span<const std::byte> Builder::record(const Node& key) const {
  if (key.kind != NodeKind::kText) fail("is a tensor whose storage has no name");
  const std::string_view name = key.text().substr(0, kMaxStorageKey);
  const auto found = records_.find(fmt::format("{}/data/{}", stem_, name));
  if (found == records_.end()) {
    fail(fmt::format("missing record \"data/{}\" with its elements", name));
  }
  return found->second;
}

int64_t Builder::natural_number(NodeIndex index) const {
  const auto* number = std::get_if<int64_t>(&node(index).payload);
  if (number == nullptr || *number < 0) fail("is a tensor whose size is not a number >= 0");
  return *number;
}

std::vector<int64_t> Builder::natural_numbers(NodeIndex index) const {
  const auto* items = std::get_if<std::vector<NodeIndex>>(&node(index).payload);
  if (items == nullptr || items->size() > kMaxDimensions) {
    fail(fmt::format("is a tensor whose shape is not a tuple of at most {} sizes", kMaxDimensions));
  }
  std::vector<int64_t> numbers;
  for (const NodeIndex item : *items) numbers.push_back(natural_number(item));
  return numbers;
}

// Sets the number of elements. After this, products of sizes cannot overflow, and unused strides
// are zero.
void Builder::measure(View& view) const {
  if (view.shape.size() != view.strides.size())
    fail("is a tensor with the wrong number of strides");
  int64_t room = std::numeric_limits<int64_t>::max() / static_cast<int64_t>(sizeof(int64_t));
  view.num_elements = 1;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    room /= std::max<int64_t>(view.shape[i], 1);
    if (room == 0) fail("is a tensor with too many elements");
    view.num_elements *= view.shape[i];
    if (view.shape[i] <= 1) view.strides[i] = 0;
  }
}

void Builder::check_reach(const View& view) const {
  const auto num_stored = static_cast<int64_t>(view.storage.size() / element_size(view.dtype));
  if (view.offset > num_stored) fail("is a tensor that starts beyond the end of its record");
  if (view.num_elements == 0) return;
  int64_t room = num_stored - view.offset - 1;
  for (std::size_t i = 0; i < view.shape.size() && room >= 0; ++i) {
    const int64_t steps = view.shape[i] - 1;
    const bool fits = view.strides[i] == 0 || steps <= room / view.strides[i];
    room = fits ? room - steps * view.strides[i] : -1;
  }
  if (room < 0) fail("is a tensor that extends beyond the end of its record");
}

bool Builder::is_contiguous(const View& view) {
  int64_t expected = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

// Copies a strided view (a transposed weight, for example) or an unaligned record to contiguous
// memory.
TensorData Builder::copy(const View& view) {
  const std::size_t size = element_size(view.dtype);
  const std::size_t bytes = static_cast<std::size_t>(view.num_elements) * size;
  if (bytes > copy_budget_) {
    fail("is a view that is far larger than the file; save it with .clone()");
  }
  copy_budget_ -= bytes;

  const FileBuffer buffer = allocate(bytes);
  std::byte* out = buffer.data.get();
  std::vector<int64_t> index(view.shape.size(), 0);
  int64_t from = view.offset;
  for (int64_t n = 0; n < view.num_elements; ++n, out += size) {
    std::memcpy(out, view.storage.data() + static_cast<std::size_t>(from) * size, size);
    for (std::size_t i = index.size(); i-- > 0;) {
      from += view.strides[i];
      if (++index[i] < view.shape[i]) break;
      from -= view.strides[i] * view.shape[i];
      index[i] = 0;
    }
  }
  return {view.dtype, view.shape, buffer.data.get(), buffer.data};
}

}  // namespace

Dict build_values(const FileBuffer& file, const ZipRecords& records, const std::string& stem,
                  const std::string& location) {
  Builder builder(file, records, stem, location);
  return builder.build(as_text(records.find(stem + "/data.pkl")->second));
}

}  // namespace trainer::archive
