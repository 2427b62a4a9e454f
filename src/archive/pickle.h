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

/// Containers may be nested this deep, in both directions.
inline constexpr int kMaxDepth = 100;

/// A reader gives up on a pickle with more objects than this: large data belongs into tensors.
inline constexpr std::size_t kMaxObjects = 4'000'000;

/// A value as the record `data.pkl` holds it. The bytes of storage "i" are those of `tensors[i]`.
struct Pickle {
  std::string bytes;
  std::vector<const TensorData*> tensors;
};

/// The pickle (protocol 2) that torch.save writes for `root`. The tensors point into `root`.
/// Throws Error(kRuntime) on what could not be read again: nested too deep, a key twice.
Pickle write_pickle(const Dict& root);

/// What a pickle builds, as nodes that refer to each other by index: in Python, two places may
/// hold one object, and a list may hold itself.
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

/// Runs the pickle `bytes` (protocol 2) without ever calling anything: the few functions that
/// torch.save names for containers and tensors are known here by name, every other one is refused.
/// Texts of the nodes point into `bytes`.
/// Throws Error(kCheckpoint) that begins with `place`.
NodeGraph read_pickle(std::string_view bytes, const std::string& location);

/// The element type that PyTorch names "torch.FloatStorage" and so on.
std::optional<DType> storage_dtype(std::string_view name);

/// Python's text of a std::string, which need not be UTF-8: bytes that are not are escaped as
/// U+DC80 to U+DCFF, like the `surrogateescape` of Python, and decode_text() gives them back.
std::string encode_text(std::string_view text);
std::string decode_text(std::string_view text);

}  // namespace trainer::archive
