// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The opcodes of the pickle format (Lib/pickletools.py of Python) as PyTorch uses it
// (torch/serialization.py), for the writer and the reader.
namespace trainer::archive {

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
