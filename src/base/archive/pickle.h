// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/base/archive/value.h"

// The opcodes of the pickle format (Lib/pickletools.py of Python) as PyTorch uses it
// (torch/serialization.py), and what the writer (pickle_writer.cpp) and the reader
// (pickle_reader.cpp) do with them.

namespace trainer::archive {

/// The maximum nesting of containers, when reading and writing.
inline constexpr int kMaxDepth = 100;

/// The maximum number of objects in a pickle that is read. Large data belongs in tensors.
inline constexpr std::size_t kMaxObjects = 4'000'000;

/// A value in the form of the record `data.pkl`. The bytes of storage "i" are those of
/// `tensors[i]`.
struct Pickle {
  std::string bytes;
  std::vector<const TensorData*> tensors;
};

/// Returns the pickle (protocol 2) that torch.save writes for `root`. The tensors point into
/// `root`. Throws Error(kRuntime) for a value that could not be read again: nested too deep, or
/// with a duplicate key.
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
  kOrderedDict,  // items as in kDict
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

/// Interprets the pickle `bytes` (protocol 2) without calling any function: the functions that
/// torch.save uses for containers and tensors are recognized by name, all others are rejected. The
/// texts of the nodes point into `bytes`. Throws Error(kCheckpoint), whose message begins with
/// `location`.
NodeGraph read_pickle(std::string_view bytes, const std::string& location);

/// Returns the element type for PyTorch's name of its storage, such as "torch.FloatStorage";
/// nothing for an unknown name.
std::optional<DType> storage_dtype(std::string_view name);

/// Converts a std::string, which need not be UTF-8, to the text of a Python string: invalid bytes
/// are escaped as U+DC80 to U+DCFF, like `surrogateescape` in Python. decode_text() restores them.
std::string encode_text(std::string_view text);
std::string decode_text(std::string_view text);

// The names of PyTorch's storages, in the order of the enumerators of DType.
inline constexpr std::array<std::string_view, 10> kStorageNames = {
    "torch.FloatStorage", "torch.DoubleStorage", "torch.HalfStorage",  "torch.BFloat16Storage",
    "torch.LongStorage",  "torch.IntStorage",    "torch.ShortStorage", "torch.CharStorage",
    "torch.ByteStorage",  "torch.BoolStorage"};
inline constexpr std::string_view kOrderedDict = "collections.OrderedDict";
inline constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

enum Opcode : unsigned char {
  kProto = 0x80,
  kStop = '.',
  kMark = '(',
  kPop = '0',
  kPopMark = '1',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8A,
  kLong4 = 0x8B,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersistentId = 'Q',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
};

}  // namespace trainer::archive
