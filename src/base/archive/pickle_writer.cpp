// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_set>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

#include "base/archive/pickle.h"

namespace trainer::archive {
namespace {

class Writer {
 public:
  Pickle write(const Dict& root) {
    put(kProto);
    put_number<uint8_t>(2);
    write(root, 1);
    put(kStop);
    return std::move(pickle_);
  }

 private:
  void put(Opcode opcode) { pickle_.bytes.push_back(static_cast<char>(opcode)); }
  template <typename T>
  void put_number(T number) {
    pickle_.bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  void write_global(std::string_view name);
  void write_tuple(const std::vector<int64_t>& numbers);

  void write(std::monostate /*none*/, int /*depth*/) { put(kNone); }
  void write(bool value, int /*depth*/) { put(value ? kNewTrue : kNewFalse); }
  void write(int64_t value, int /*depth*/);
  void write(double value, int /*depth*/);
  void write(const std::string& value, int /*depth*/) { write_text(value); }
  void write(const TensorData& tensor, int /*depth*/);
  void write(const List& list, int depth);
  void write(const Dict& dict, int depth);
  void write(const Value& value, int depth);
  void write_text(std::string_view text);
  static void check_depth(int depth);

  Pickle pickle_;
};

void Writer::write(int64_t value, int /*depth*/) {
  if (value >= 0 && value <= 0xFF) {
    put(kBinInt1);
    put_number(static_cast<uint8_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    put(kBinInt);
    put_number(static_cast<int32_t>(value));
  } else {
    put(kLong1);
    put_number<uint8_t>(sizeof(value));
    put_number(value);
  }
}

void Writer::write(double value, int /*depth*/) {
  put(kBinFloat);
  auto bits = std::bit_cast<std::array<char, sizeof(value)>>(value);
  std::reverse(bits.begin(), bits.end());  // the only big-endian number in a pickle
  pickle_.bytes.append(bits.data(), bits.size());
}

void Writer::write_text(std::string_view text) {
  const std::string encoded = encode_text(text);
  if (encoded.size() > UINT32_MAX)
    throw Error(ErrorKind::kRuntime, "a string is longer than 4 GiB");
  put(kBinUnicode);
  put_number(static_cast<uint32_t>(encoded.size()));
  pickle_.bytes += encoded;
}

void Writer::write_global(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  put(kGlobal);
  pickle_.bytes += fmt::format("{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
}

void Writer::write_tuple(const std::vector<int64_t>& numbers) {
  put(kMark);
  for (const int64_t number : numbers) write(number, 0);
  put(kTuple);
}

// Writes the call _rebuild_tensor_v2(storage, offset 0, shape, strides, requires_grad False, hooks
// {}).
void Writer::write(const TensorData& tensor, int /*depth*/) {
  if (tensor.data == nullptr && tensor.num_elements() != 0) {
    throw Error(ErrorKind::kRuntime, "a tensor has elements but no data");
  }
  std::vector<int64_t> strides(tensor.shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<int64_t>(tensor.shape[i], 1);
  }
  write_global(kRebuildTensor);
  put(kMark);
  put(kMark);
  write_text("storage");
  write_global(kStorageNames.at(static_cast<std::size_t>(tensor.dtype)));
  write_text(std::to_string(pickle_.tensors.size()));
  write_text("cpu");
  write(tensor.num_elements(), 0);
  put(kTuple);
  put(kBinPersistentId);
  write(int64_t{0}, 0);
  write_tuple(tensor.shape);
  write_tuple(strides);
  put(kNewFalse);
  write_global(kOrderedDict);
  put(kEmptyTuple);
  put(kReduce);
  put(kTuple);
  put(kReduce);
  pickle_.tensors.push_back(&tensor);
}

void Writer::check_depth(int depth) {
  if (depth > kMaxDepth) {
    throw Error(ErrorKind::kRuntime, fmt::format("nested more than {} levels deep", kMaxDepth));
  }
}

void Writer::write(const List& list, int depth) {
  check_depth(depth);
  put(kEmptyList);
  put(kMark);
  for (const Value& value : list) write(value, depth + 1);
  put(kAppends);
}

void Writer::write(const Dict& dict, int depth) {
  check_depth(depth);
  std::unordered_set<std::string_view> keys;
  put(kEmptyDict);
  put(kMark);
  for (const auto& [key, value] : dict) {
    if (!keys.insert(key).second) {
      throw Error(ErrorKind::kRuntime, fmt::format("duplicate key {}", in_quotes(key)));
    }
    write_text(key);
    write(value, depth + 1);
  }
  put(kSetItems);
}

void Writer::write(const Value& value, int depth) {
  std::visit([&](const auto& content) { this->write(content, depth); }, value.storage());
}

}  // namespace

Pickle write_pickle(const Dict& root) { return Writer().write(root); }

}  // namespace trainer::archive
