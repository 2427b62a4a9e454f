// SPDX-License-Identifier: Apache-2.0
#include "base/archive/pickle.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"

namespace trainer::archive {
namespace {

using namespace std::string_literals;

const std::string kProtocol = "\x80\x02";
const std::string kOrderedDict = "ccollections\nOrderedDict\n";

// What is said about a pickle of these operations, without the place.
std::string pickle_refusal(const std::string& operations) {
  return test::after("a.pt: data.pkl: ", test::message_of(ErrorKind::kCheckpoint, [&] {
                       read_pickle(kProtocol + operations, "a.pt: data.pkl");
                     }));
}

Node unpickle(const std::string& operations) {
  const std::string pickle = kProtocol + operations;
  const NodeGraph graph = read_pickle(pickle, "a.pt: data.pkl");
  return graph.nodes.at(graph.root);
}

int64_t unpickle_int(const std::string& operations) {
  return std::get<int64_t>(unpickle(operations).payload);
}

TEST(PickleTest, ReadsIntegersOfEveryLength) {
  EXPECT_EQ(unpickle_int("K\xFF."), 255);
  EXPECT_EQ(unpickle_int("M\xFF\xFF."), 65535);
  EXPECT_EQ(unpickle_int("J\xFE\xFF\xFF\xFF."), -2);
  EXPECT_EQ(unpickle_int("\x8A\x00."s), 0);
  EXPECT_EQ(unpickle_int("\x8A\x02\x00\x80."s), -32768);
  EXPECT_EQ(unpickle_int("\x8A\x03\x00\x80\x00."s), 32768);
  EXPECT_EQ(unpickle_int("\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80."s), INT64_MIN);
  EXPECT_EQ(unpickle_int("\x8B\x01\x00\x00\x00\xFF."s), -1);
}

TEST(PickleTest, ReadsAFloatInBigEndian) {
  const Node node = unpickle("G\x40\x04\x00\x00\x00\x00\x00\x00."s);
  EXPECT_EQ(std::get<double>(node.payload), 2.5);
}

TEST(PickleTest, KeepsOneObjectThatStandsTwiceAsOne) {
  const Node list = unpickle("](]q\x05h\x05\x65."s);
  ASSERT_EQ(list.items().size(), 2U);
  EXPECT_EQ(list.items()[0], list.items()[1]);
}

TEST(PickleTest, KnowsEveryStorageThatItWrites) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto dtype = static_cast<DType>(i);
    TensorData tensor{dtype, {0}, nullptr, nullptr};
    const Pickle pickle = write_pickle({{"t", tensor}});
    const NodeGraph graph = read_pickle(pickle.bytes, "");
    bool found = false;
    for (const Node& node : graph.nodes) {
      found |= node.kind == NodeKind::kGlobal && storage_dtype(node.text()) == dtype;
    }
    EXPECT_TRUE(found) << dtype_name(dtype);
  }
  EXPECT_FALSE(storage_dtype("torch.ComplexFloatStorage"));
}

TEST(PickleTest, RefusesEveryFunctionThatIsNotNeeded) {
  const std::string end = ": only plain containers, numbers, strings and tensors are accepted";
  EXPECT_EQ(pickle_refusal("cos\nsystem\nX\x02\0\0\0ls\x85R."s),
            "refused to read \"os.system\"" + end);
  EXPECT_EQ(pickle_refusal("cbuiltins\neval\n."), "refused to read \"builtins.eval\"" + end);
  EXPECT_EQ(pickle_refusal("ctorch\nComplexFloatStorage\n."),
            "refused to read \"torch.ComplexFloatStorage\"" + end);
  EXPECT_EQ(pickle_refusal("ccollections\nOrderedDict \n."),
            "refused to read \"collections.OrderedDict \"" + end);
}

TEST(PickleTest, RefusesEveryOtherOperation) {
  EXPECT_EQ(pickle_refusal("(ios\nsystem\n."),
            "invalid at byte 3: opcode 0x69 is not one that torch.save writes");
  EXPECT_EQ(pickle_refusal("\x93."),
            "invalid at byte 2: opcode 0x93 is not one that torch.save writes");
  EXPECT_EQ(pickle_refusal("N2."),
            "invalid at byte 3: opcode 0x32 is not one that torch.save writes");
}

TEST(PickleTest, RefusesOtherProtocols) {
  EXPECT_EQ(pickle_refusal("\x80\x04N."),
            "invalid at byte 4: expected pickle protocol 2, the default of torch.save, got 4");
}

TEST(PickleTest, RefusesIntegersThatNeedMoreThan64Bits) {
  EXPECT_EQ(pickle_refusal("\x8A\x09\0\0\0\0\0\0\0\0\x01."s),
            "invalid at byte 13: integers of more than 64 bits are not supported");
}

TEST(PickleTest, RefusesClaimedLengthsBeyondTheEnd) {
  EXPECT_EQ(pickle_refusal("X\xFF\xFF\xFF\xFFtext."),
            "invalid at byte 7: expected 4294967295 more bytes, got 5");
  EXPECT_EQ(pickle_refusal("\x8B\xFF\xFF\xFF\xFF."),
            "invalid at byte 7: expected 4294967295 more bytes, got 1");
  EXPECT_EQ(pickle_refusal("G12."), "invalid at byte 3: expected 8 more bytes, got 3");
  EXPECT_EQ(pickle_refusal("cos\nsystem"), "invalid at byte 6: unterminated name");
  EXPECT_EQ(pickle_refusal("N"), "invalid at byte 3: expected 1 more bytes, got 0");
}

TEST(PickleTest, RefusesAStackThatRunsEmpty) {
  const std::string empty = ": pops from an empty stack";
  EXPECT_EQ(pickle_refusal("0."), "invalid at byte 3" + empty);
  EXPECT_EQ(pickle_refusal("N\x86."), "invalid at byte 4" + empty);
  EXPECT_EQ(pickle_refusal("N(0."), "invalid at byte 5" + empty);
  EXPECT_EQ(pickle_refusal("q\x01."), "invalid at byte 4" + empty);
  EXPECT_EQ(pickle_refusal("a."), "invalid at byte 3" + empty);
  EXPECT_EQ(pickle_refusal("(e."), "invalid at byte 4" + empty);
  EXPECT_EQ(pickle_refusal("R."), "invalid at byte 3" + empty);
  EXPECT_EQ(pickle_refusal("b."), "invalid at byte 3" + empty);
  EXPECT_EQ(pickle_refusal("Q."), "invalid at byte 3" + empty);
  EXPECT_EQ(pickle_refusal("t."), "invalid at byte 3: missing mark");
  EXPECT_EQ(pickle_refusal("."), "invalid at byte 3: expected exactly one value at the end");
  EXPECT_EQ(pickle_refusal("NN."), "invalid at byte 5: expected exactly one value at the end");
  EXPECT_EQ(pickle_refusal("N(."), "invalid at byte 5: expected exactly one value at the end");
  EXPECT_EQ(pickle_refusal("N.N"), "invalid at byte 4: trailing bytes after the end");
}

TEST(PickleTest, RefusesOperationsOnTheWrongKindOfObject) {
  EXPECT_EQ(pickle_refusal("}Na."), "invalid at byte 5: appends to a value that is not a list");
  EXPECT_EQ(pickle_refusal("]NNs."), "invalid at byte 6: sets a key of a value that is not a dict");
  EXPECT_EQ(pickle_refusal("}(Nu."), "invalid at byte 6: key without a value");
  EXPECT_EQ(pickle_refusal("h\x01."), "invalid at byte 4: refers to an unknown object");
  EXPECT_EQ(pickle_refusal("}}b."),
            "invalid at byte 5: sets attributes of a value that is not an OrderedDict");
  EXPECT_EQ(pickle_refusal("NQ."), "invalid at byte 4: invalid storage description");
  EXPECT_EQ(pickle_refusal("N)R."), "invalid at byte 5: calls a value that is not a function");
  EXPECT_EQ(pickle_refusal(kOrderedDict + "NR."),
            "invalid at byte 29: calls a value that is not a function");
  EXPECT_EQ(pickle_refusal(kOrderedDict + "N\x85R."),
            "invalid at byte 30: collections.OrderedDict is called with invalid arguments");
  EXPECT_EQ(pickle_refusal("ctorch\nFloatStorage\n)R."),
            "invalid at byte 24: torch.FloatStorage is called with invalid arguments");
  EXPECT_EQ(pickle_refusal("ctorch._utils\n_rebuild_parameter\nNNN\x87R."),
            "invalid at byte 40: torch._utils._rebuild_parameter is called with invalid arguments");
}

TEST(PickleTest, RefusesMoreObjectsThanItHasMemoryFor) {
  EXPECT_EQ(pickle_refusal("(" + std::string(kMaxObjects + 1, 'N') + "t."),
            "invalid at byte 4000004: more than 4000000 objects; keep large data in tensors");
}

TEST(PickleTest, EscapesOnlyBytesThatAreNoUtf8) {
  EXPECT_EQ(encode_text("h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(encode_text("h\xE9"), "h\xED\xB3\xA9");
  EXPECT_EQ(encode_text("\xC0\x80"), "\xED\xB3\x80\xED\xB2\x80");
}

TEST(PickleTest, GivesBackEveryPairOfBytesInAText) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'\xED', static_cast<char>(first), static_cast<char>(second), 'x'};
      ASSERT_EQ(decode_text(encode_text(text)), text) << first << " " << second;
      ASSERT_EQ(decode_text(encode_text(text.substr(1))), text.substr(1));
    }
  }
}

}  // namespace
}  // namespace trainer::archive
