// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/archive/value.h"

namespace trainer::archive {

// Implemented in pickle_writer.cpp, pickle_reader.cpp and pickle_text.cpp.

/// The maximum nesting of containers, when reading and writing.
inline constexpr int kMaxDepth = 100;

/// The maximum number of objects in a pickle that is read: large data belongs into tensors.
inline constexpr std::size_t kMaxObjects = 4'000'000;

/// A value as stored in the record `data.pkl`. The bytes of storage "i" are those of `tensors[i]`.
struct Pickle {
  std::string bytes;
  std::vector<const TensorData*> tensors;
};

/// The pickle (protocol 2) that torch.save writes for `root`. The tensors point into `root`.
/// Throws Error(kRuntime) for a value that could not be read again: nested too deep, duplicate key.
Pickle write_pickle(const Dict& root);

/// The objects of a pickle, as nodes that refer to each other by index: in Python, two containers
/// may hold the same object, and a list may hold itself.
enum class NodeKind {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kTuple,
  kList,
  kDict,         // items: key, value, key, value, ...
  kOrderedDict,  // the same
  kGlobal,       // text: "torch.FloatStorage"
  kStorage,      // items: "storage", type, key, location, number of elements
  kTensor        // items: storage, offset, shape, strides, requires_grad, hooks[, metadata]
};

using NodeIndex = uint32_t;

struct Node {
  using Payload =
      std::variant<std::monostate, bool, int64_t, double, std::string_view, std::vector<NodeIndex>>;

  NodeKind kind = NodeKind::kNone;
  Payload payload;

  const std::vector<NodeIndex>& items() const { return std::get<std::vector<NodeIndex>>(payload); }
  std::string_view text() const { return std::get<std::string_view>(payload); }
};

struct NodeGraph {
  std::vector<Node> nodes;
  NodeIndex root = 0;
};

/// Interprets the pickle `bytes` (protocol 2) without calling any function: those that torch.save
/// uses for containers and tensors are recognized by name, all others are rejected.
/// Texts of the nodes point into `bytes`.
/// Throws Error(kCheckpoint) that begins with `location`.
NodeGraph read_pickle(std::string_view bytes, const std::string& location);

/// The element type that PyTorch names "torch.FloatStorage" and so on.
std::optional<DType> storage_dtype(std::string_view name);

/// The Python text of a std::string, which need not be UTF-8: other bytes are escaped as U+DC80 to
/// U+DCFF, like `surrogateescape` in Python, and decode_text() restores them.
std::string encode_text(std::string_view text);
std::string decode_text(std::string_view text);

}  // namespace trainer::archive
