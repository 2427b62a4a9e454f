// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

#include "base/archive/pickle.h"

namespace trainer::archive {
namespace {

// The stack machine that runs a pickle. Each object costs the pickle at least one byte,
// and no step does more work than the bytes and stack entries that it consumes: linear time.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& location)
      : bytes_(bytes), location_(location) {}

  NodeGraph run();

 private:
  using Items = std::vector<NodeIndex>;
  using Step = void (Machine::*)();
  static Step find_step(unsigned char opcode);

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(std::string_view name) const;

  std::string_view take(std::size_t size);
  std::string_view take_line();
  template <typename T>
  T take_number();

  void push(NodeKind kind, Node::Payload payload = {});
  void check_depth(std::size_t size) const;
  NodeIndex pop();
  Items pop_many(std::size_t count);
  Items pop_to_mark();
  Node& top();
  static bool is_dict(const Node& node) {
    return node.kind == NodeKind::kDict || node.kind == NodeKind::kOrderedDict;
  }

  void proto();
  void push_none() { push(NodeKind::kNone); }
  void push_true() { push(NodeKind::kBool, true); }
  void push_false() { push(NodeKind::kBool, false); }
  void push_int_1() { push(NodeKind::kInt, int64_t{take_number<uint8_t>()}); }
  void push_int_2() { push(NodeKind::kInt, int64_t{take_number<uint16_t>()}); }
  void push_int_4() { push(NodeKind::kInt, int64_t{take_number<int32_t>()}); }
  void push_long_1() { push_long(take_number<uint8_t>()); }
  void push_long_4() { push_long(take_number<uint32_t>()); }
  void push_long(std::size_t size);
  void push_float();
  void push_text() { push(NodeKind::kText, take(take_number<uint32_t>())); }
  void push_empty_tuple() { push(NodeKind::kTuple, Items()); }
  void push_empty_list() { push(NodeKind::kList, Items()); }
  void push_empty_dict() { push(NodeKind::kDict, Items()); }
  void push_global();

  void mark() { marks_.push_back(stack_.size()); }
  void drop() { pop(); }
  void drop_to_mark() { pop_to_mark(); }
  void make_tuple() { push(NodeKind::kTuple, pop_to_mark()); }
  void make_tuple_1() { push(NodeKind::kTuple, pop_many(1)); }
  void make_tuple_2() { push(NodeKind::kTuple, pop_many(2)); }
  void make_tuple_3() { push(NodeKind::kTuple, pop_many(3)); }
  void append_one() { append(pop_many(1)); }
  void append_many() { append(pop_to_mark()); }
  void append(const Items& items);
  void set_one() { set(pop_many(2)); }
  void set_many() { set(pop_to_mark()); }
  void set(const Items& items);
  void reduce();
  void build();
  void make_storage();

  void put_1() { put(take_number<uint8_t>()); }
  void put_4() { put(take_number<uint32_t>()); }
  void put(uint32_t slot);
  void get_1() { get(take_number<uint8_t>()); }
  void get_4() { get(take_number<uint32_t>()); }
  void get(uint32_t slot);

  std::string_view bytes_;
  const std::string& location_;
  std::size_t position_ = 0;
  std::vector<Node> nodes_;
  Items stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<uint32_t, NodeIndex> memo_;
};

Machine::Step Machine::find_step(unsigned char opcode) {
  static const std::unordered_map<unsigned char, Step> steps = {
      {kProto, &Machine::proto},
      {kMark, &Machine::mark},
      {kPop, &Machine::drop},
      {kPopMark, &Machine::drop_to_mark},
      {kNone, &Machine::push_none},
      {kNewTrue, &Machine::push_true},
      {kNewFalse, &Machine::push_false},
      {kBinInt, &Machine::push_int_4},
      {kBinInt1, &Machine::push_int_1},
      {kBinInt2, &Machine::push_int_2},
      {kLong1, &Machine::push_long_1},
      {kLong4, &Machine::push_long_4},
      {kBinFloat, &Machine::push_float},
      {kBinUnicode, &Machine::push_text},
      {kEmptyTuple, &Machine::push_empty_tuple},
      {kTuple, &Machine::make_tuple},
      {kTuple1, &Machine::make_tuple_1},
      {kTuple2, &Machine::make_tuple_2},
      {kTuple3, &Machine::make_tuple_3},
      {kEmptyList, &Machine::push_empty_list},
      {kAppend, &Machine::append_one},
      {kAppends, &Machine::append_many},
      {kEmptyDict, &Machine::push_empty_dict},
      {kSetItem, &Machine::set_one},
      {kSetItems, &Machine::set_many},
      {kGlobal, &Machine::push_global},
      {kReduce, &Machine::reduce},
      {kBuild, &Machine::build},
      {kBinPersistentId, &Machine::make_storage},
      {kBinPut, &Machine::put_1},
      {kLongBinPut, &Machine::put_4},
      {kBinGet, &Machine::get_1},
      {kLongBinGet, &Machine::get_4},
  };
  const auto found = steps.find(opcode);
  return found == steps.end() ? nullptr : found->second;
}

NodeGraph Machine::run() {
  while (true) {
    const auto opcode = take_number<unsigned char>();
    if (opcode == kStop) break;
    const Step step = find_step(opcode);
    if (step == nullptr) {
      --position_;
      fail(fmt::format("opcode {:#04x} is not one that torch.save writes", opcode));
    }
    (this->*step)();
  }
  if (position_ != bytes_.size()) fail("trailing bytes after the end");
  if (stack_.size() != 1 || !marks_.empty()) fail("expected exactly one value at the end");
  const NodeIndex root = pop();
  return {std::move(nodes_), root};
}

void Machine::fail(const std::string& what) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: invalid at byte {}: {}", location_, position_, what));
}

void Machine::refuse(std::string_view name) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: refused to read {}: only plain containers, numbers, strings and "
                          "tensors are accepted",
                          location_, in_quotes(name)));
}

std::string_view Machine::take(std::size_t size) {
  if (size > bytes_.size() - position_) {
    fail(fmt::format("expected {} more bytes, got {}", size, bytes_.size() - position_));
  }
  const std::string_view taken = bytes_.substr(position_, size);
  position_ += size;
  return taken;
}

std::string_view Machine::take_line() {
  const std::size_t end = bytes_.find('\n', position_);
  if (end == std::string_view::npos) fail("unterminated name");
  std::string_view line = take(end + 1 - position_);
  line.remove_suffix(1);
  return line;
}

template <typename T>
T Machine::take_number() {
  T number{};
  take(sizeof(T)).copy(reinterpret_cast<char*>(&number), sizeof(T));
  return number;
}

void Machine::push(NodeKind kind, Node::Payload payload) {
  if (nodes_.size() >= kMaxObjects) {
    fail(fmt::format("more than {} objects; keep large data in tensors", kMaxObjects));
  }
  stack_.push_back(static_cast<NodeIndex>(nodes_.size()));
  nodes_.push_back({kind, std::move(payload)});
}

// Nothing below a mark may be popped.
void Machine::check_depth(std::size_t size) const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + size) fail("pops from an empty stack");
}

NodeIndex Machine::pop() {
  check_depth(1);
  const NodeIndex node = stack_.back();
  stack_.pop_back();
  return node;
}

Machine::Items Machine::pop_many(std::size_t count) {
  check_depth(count);
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  Items items(first, stack_.end());
  stack_.erase(first, stack_.end());
  return items;
}

Machine::Items Machine::pop_to_mark() {
  if (marks_.empty()) fail("missing mark");
  Items items = pop_many(stack_.size() - marks_.back());
  marks_.pop_back();
  return items;
}

Node& Machine::top() {
  check_depth(1);
  return nodes_[stack_.back()];
}

void Machine::proto() {
  const auto version = take_number<uint8_t>();
  if (version != 2) {
    fail(fmt::format("expected pickle protocol 2, the default of torch.save, got {}", version));
  }
}

void Machine::push_long(std::size_t size) {
  const std::string_view digits = take(size);
  if (size > sizeof(int64_t)) fail("integers of more than 64 bits are not supported");
  // Little-endian two's complement, as short as possible: the last byte holds the sign.
  int64_t number = size > 0 && (digits.back() & 0x80) != 0 ? -1 : 0;
  if (size > 0) std::memcpy(&number, digits.data(), size);
  push(NodeKind::kInt, number);
}

void Machine::push_float() {
  auto bits = take_number<std::array<char, sizeof(double)>>();
  std::reverse(bits.begin(), bits.end());
  push(NodeKind::kFloat, std::bit_cast<double>(bits));
}

void Machine::push_global() {
  const std::string_view module = take_line();
  const std::string_view name = take_line();
  // Module and name are adjacent in the pickle, but known names point to constants of this program.
  const std::string full = fmt::format("{}.{}", module, name);
  const auto same = [&](std::string_view known) { return known == full; };
  for (const std::string_view known : {kOrderedDict, kRebuildTensor, kRebuildParameter}) {
    if (same(known)) return push(NodeKind::kGlobal, known);
  }
  const auto* storage = std::find_if(kStorageNames.begin(), kStorageNames.end(), same);
  if (storage == kStorageNames.end()) refuse(full);
  push(NodeKind::kGlobal, *storage);
}

void Machine::append(const Items& items) {
  Node& list = top();
  if (list.kind != NodeKind::kList) fail("appends to a value that is not a list");
  auto& content = std::get<Items>(list.payload);
  content.insert(content.end(), items.begin(), items.end());
}

void Machine::set(const Items& items) {
  Node& dict = top();
  if (!is_dict(dict)) fail("sets a key of a value that is not a dict");
  if (items.size() % 2 != 0) fail("key without a value");
  auto& content = std::get<Items>(dict.payload);
  content.insert(content.end(), items.begin(), items.end());
}

// Handles the call of one of the three known functions without calling anything.
void Machine::reduce() {
  const Node arguments = nodes_[pop()];
  const Node function = nodes_[pop()];
  if (function.kind != NodeKind::kGlobal || arguments.kind != NodeKind::kTuple) {
    fail("calls a value that is not a function");
  }
  const Items& items = arguments.items();
  if (function.text() == kOrderedDict && items.empty()) {
    push(NodeKind::kOrderedDict, Items());
  } else if (function.text() == kRebuildTensor && (items.size() == 6 || items.size() == 7)) {
    push(NodeKind::kTensor, items);
  } else if (function.text() == kRebuildParameter && items.size() == 3 &&
             nodes_[items[0]].kind == NodeKind::kTensor) {
    stack_.push_back(items[0]);
  } else {
    fail(fmt::format("{} is called with invalid arguments", function.text()));
  }
}

// Ignores the attributes of an OrderedDict, such as the `_metadata` of a state dict, which are no
// data.
void Machine::build() {
  const Node& state = nodes_[pop()];
  if (top().kind != NodeKind::kOrderedDict || !is_dict(state)) {
    fail("sets attributes of a value that is not an OrderedDict");
  }
}

void Machine::make_storage() {
  const Node id = nodes_[pop()];
  if (id.kind != NodeKind::kTuple || id.items().size() != 5) fail("invalid storage description");
  push(NodeKind::kStorage, id.items());
}

void Machine::put(uint32_t slot) {
  check_depth(1);
  memo_[slot] = stack_.back();
}

void Machine::get(uint32_t slot) {
  const auto found = memo_.find(slot);
  if (found == memo_.end()) fail("refers to an unknown object");
  stack_.push_back(found->second);
}

}  // namespace

std::optional<DType> storage_dtype(std::string_view name) {
  const auto* found = std::find(kStorageNames.begin(), kStorageNames.end(), name);
  if (found == kStorageNames.end()) return std::nullopt;
  return static_cast<DType>(found - kStorageNames.begin());
}

NodeGraph read_pickle(std::string_view bytes, const std::string& location) {
  return Machine(bytes, location).run();
}

}  // namespace trainer::archive
