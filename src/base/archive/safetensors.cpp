// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"

#include "base/archive/file_buffer.h"
#include "base/archive/safetensors.h"
#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

namespace fs = std::filesystem;

// The limit of the reference implementation, which is enough for a million tensors.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// Whether a file of `file_size` bytes that begins with `begin` can be a safetensors file.
bool is_plausible(std::string_view begin, uint64_t file_size) {
  if (begin.size() <= kLengthBytes || begin[kLengthBytes] != '{') return false;
  const uint64_t length = header_length(std::as_bytes(std::span(begin)));
  return length <= std::min(kMaxHeaderBytes, file_size - kLengthBytes);
}

void check_safetensors_begin(std::string_view begin, uint64_t file_size, const std::string& path) {
  if (is_plausible(begin, file_size)) return;
  if (begin.size() <= kLengthBytes) {
    fail(path, fmt::format("expected a safetensors file, got {} bytes; the file was not written or "
                           "copied completely",
                           file_size));
  }
  if (begin[kLengthBytes] != '{') {
    fail(path, fmt::format("expected a safetensors file, got a file that starts with {}; save it "
                           "with safetensors.torch.save_file",
                           in_quotes(begin)));
  }
  fail(
      path,
      fmt::format(
          "header length {}, expected at most {}; the file is damaged or was not copied completely",
          header_length(std::as_bytes(std::span(begin))),
          std::min(kMaxHeaderBytes, file_size - kLengthBytes)));
}

std::vector<const Named*> file_order(const Safetensors& content) {
  std::vector<const Named*> order;
  order.reserve(content.tensors.size());
  for (const Named& named : content.tensors) order.push_back(&named);
  std::stable_sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return element_size(a->second.dtype) > element_size(b->second.dtype);
  });
  return order;
}

bool continues_with(std::ifstream& stream, std::span<const std::byte> expected) {
  std::vector<char> chunk(std::size_t{1} << 20);
  while (!expected.empty()) {
    const std::size_t size = std::min(chunk.size(), expected.size());
    if (!stream.read(chunk.data(), static_cast<std::streamsize>(size)) ||
        std::memcmp(chunk.data(), expected.data(), size) != 0) {
      return false;
    }
    expected = expected.subspan(size);
  }
  return true;
}

// Reads the written file back and compares it with the content, before it is renamed to `path`.
void check_written(const fs::path& written, std::string_view begin,
                   const std::vector<const Named*>& order, const fs::path& path) {
  read_safetensors(written);
  std::ifstream stream(written, std::ios::binary);
  const bool is_same =
      continues_with(stream, std::as_bytes(std::span(begin))) &&
      std::all_of(order.begin(), order.end(), [&](const Named* named) {
        return continues_with(stream, {named->second.data, named->second.num_bytes()});
      });
  if (is_same) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format(
          "{}: the file read back differs from what was written; check the disk or its file system",
          path.string()));
}

}  // namespace

bool is_safetensors(const fs::path& path) {
  if (lower_case(path.extension().string()) == ".safetensors") return true;
  std::array<char, kLengthBytes + 1> begin{};
  std::ifstream stream(path, std::ios::binary);
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  return !unknown && stream.read(begin.data(), begin.size()) &&
         is_plausible({begin.data(), begin.size()}, size);
}

Safetensors read_safetensors(const fs::path& path) {
  const std::string name = path.string();
  const FileBuffer file = read_file(name, check_safetensors_begin);
  return parse_safetensors(file, name);
}

void write_safetensors(const fs::path& path, const Safetensors& content) {
  const std::vector<const Named*> order = file_order(content);
  std::string header = make_header(content, order);
  header.append(
      (kRecordAlignment - (kLengthBytes + header.size()) % kRecordAlignment) % kRecordAlignment,
      ' ');
  const uint64_t length = header.size();
  std::string begin(kLengthBytes, '\0');
  std::memcpy(begin.data(), &length, kLengthBytes);
  begin += header;
  AtomicFile file(path);
  file.write(begin);
  for (const Named* named : order) {
    file.write(std::span(named->second.data, named->second.num_bytes()));
  }
  check_written(file.flushed(), begin, order, path);
  file.commit();
}

namespace {

using nlohmann::json;

constexpr const char* kMetadata = "__metadata__";

struct DTypeName {
  std::string_view name;
  DType dtype;
};

constexpr std::array<DTypeName, 10> kDTypeNames = {{{"F32", DType::kFloat32},
                                                    {"F64", DType::kFloat64},
                                                    {"F16", DType::kFloat16},
                                                    {"BF16", DType::kBFloat16},
                                                    {"I64", DType::kInt64},
                                                    {"I32", DType::kInt32},
                                                    {"I16", DType::kInt16},
                                                    {"I8", DType::kInt8},
                                                    {"U8", DType::kUInt8},
                                                    {"BOOL", DType::kBool}}};

std::string_view dtype_code(DType dtype) {
  return std::find_if(kDTypeNames.begin(), kDTypeNames.end(),
                      [&](const DTypeName& row) { return row.dtype == dtype; })
      ->name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  const DTypeName* found = find_by_name(kDTypeNames, name);
  return found == nullptr ? std::nullopt : std::optional(found->dtype);
}

/// Parses and checks the header of a file.
class HeaderReader {
 public:
  HeaderReader(const FileBuffer& file, const std::string& path) : file_(file), path_(path) {
    const std::span<const std::byte> bytes(file.data.get(), file.size);
    const uint64_t length = header_length(bytes);
    text_ = as_text(bytes.subspan(kLengthBytes, length));
    data_begin_ = kLengthBytes + length;
  }

  Safetensors read() && {
    const json header = parse();
    Safetensors content;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        content.metadata = read_metadata(entry);
      } else {
        tensors_.push_back(read_tensor(name, entry));
      }
    }
    check_gaps();
    content.tensors.reserve(tensors_.size());
    for (TensorRange& range : tensors_) {
      content.tensors.emplace_back(std::move(range.name), std::move(range.tensor));
    }
    return content;
  }

 private:
  struct TensorRange {
    std::string name;
    uint64_t begin = 0;  // relative to the end of the header
    uint64_t end = 0;
    TensorData tensor;
  };

  [[noreturn]] void refuse(const std::string& what) const { fail(path_, what); }

  // Checks keys while parsing, because the JSON library would silently keep the last of two equal
  // keys.
  json parse() const {
    std::vector<std::set<std::string>> names;
    const auto note = [&](int depth, json::parse_event_t event, const json& value) {
      if (depth > kMaxJsonDepth) refuse("the header is nested too deep; the file is damaged");
      if (event == json::parse_event_t::object_start) names.emplace_back();
      if (event == json::parse_event_t::object_end) names.pop_back();
      if (event == json::parse_event_t::key && !names.back().insert(value).second) {
        refuse(fmt::format("duplicate key {} in the header", in_quotes(value.get<std::string>())));
      }
      return true;
    };
    try {
      json header = json::parse(text_, note);
      if (!header.is_object()) refuse("the header is not a JSON object; the file is damaged");
      return header;
    } catch (const json::exception& error) {
      refuse(fmt::format("the header cannot be read ({}); the file is damaged", error.what()));
    }
  }

  std::vector<std::pair<std::string, std::string>> read_metadata(const json& entry) const {
    if (!entry.is_object()) {
      refuse(
          fmt::format("{}: expected an object of strings, got {}", kMetadata, entry.type_name()));
    }
    std::vector<std::pair<std::string, std::string>> metadata;
    metadata.reserve(entry.size());
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) {
        refuse(fmt::format("{}: {}: expected a string, got {}", kMetadata, in_quotes(key),
                           value.type_name()));
      }
      metadata.emplace_back(key, value.get<std::string>());
    }
    return metadata;
  }

  TensorRange read_tensor(const std::string& name, const json& entry) const {
    const std::string location = fmt::format("tensor {}", in_quotes(name));
    const auto member = [&](const char* key) -> const json& {
      const auto found = entry.find(key);
      if (found == entry.end()) refuse(fmt::format("{}: {} is missing", location, key));
      return *found;
    };
    if (!entry.is_object()) {
      refuse(fmt::format("{}: expected dtype, shape and data_offsets, got {}", location,
                         entry.type_name()));
    }
    TensorRange range;
    range.name = name;
    range.tensor.dtype = read_dtype(location, member("dtype"));
    range.tensor.shape = read_shape(location, member("shape"));
    read_offsets(location, member("data_offsets"), range);
    const std::optional<uint64_t> expected = num_bytes(range.tensor);
    if (!expected || *expected != range.end - range.begin) {
      refuse(fmt::format("{}: {} does not match the {} bytes of its data_offsets", location,
                         type_text(range.tensor), range.end - range.begin));
    }
    range.tensor.data = file_.data.get() + data_begin_ + range.begin;
    range.tensor.owner = file_.data;
    return range;
  }

  DType read_dtype(const std::string& location, const json& value) const {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const std::optional<DType> dtype = parse_dtype(text);
    if (dtype) return *dtype;
    std::vector<std::string> names;
    names.reserve(kDTypeNames.size());
    for (const DTypeName& row : kDTypeNames) names.emplace_back(row.name);
    refuse(fmt::format("{}: expected one of the dtypes {}, got {}; convert the tensor to F32",
                       location, joined(names, " or "), in_quotes(text)));
  }

  std::vector<int64_t> read_shape(const std::string& location, const json& value) const {
    std::vector<int64_t> shape;
    bool is_good = value.is_array();
    for (std::size_t i = 0; is_good && i < value.size(); ++i) {
      is_good = value[i].is_number_unsigned() &&
                value[i].get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
      if (is_good) shape.push_back(value[i].get<int64_t>());
    }
    if (!is_good) {
      refuse(fmt::format("{}: expected a shape of integers, got {}", location,
                         in_quotes(value.dump())));
    }
    return shape;
  }

  void read_offsets(const std::string& location, const json& value, TensorRange& range) const {
    const uint64_t size = file_.size - data_begin_;
    const bool is_good = value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
                         value[1].is_number_unsigned() &&
                         value[0].get<uint64_t>() <= value[1].get<uint64_t>() &&
                         value[1].get<uint64_t>() <= size;
    if (!is_good) {
      refuse(
          fmt::format("{}: expected data_offsets within the {} bytes after the header, got {}; the "
                      "file is damaged or was not copied completely",
                      location, size, in_quotes(value.dump())));
    }
    range.begin = value[0].get<uint64_t>();
    range.end = value[1].get<uint64_t>();
  }

  // Returns the size of a tensor in bytes, or nothing if it overflows.
  static std::optional<uint64_t> num_bytes(const TensorData& tensor) {
    uint64_t count = element_size(tensor.dtype);
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return 0;
    for (const int64_t extent : tensor.shape) {
      if (static_cast<uint64_t>(extent) > std::numeric_limits<int64_t>::max() / count) return {};
      count *= static_cast<uint64_t>(extent);
    }
    return count;
  }

  void check_gaps() {
    std::stable_sort(tensors_.begin(), tensors_.end(),
                     [](const TensorRange& a, const TensorRange& b) {
                       return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                     });
    uint64_t end = 0;
    for (const TensorRange& range : tensors_) {
      if (range.begin != end) {
        refuse(
            fmt::format("tensor {}: starts at {}, but the previous one ends at {}; tensors must "
                        "not overlap or leave gaps",
                        in_quotes(range.name), range.begin, end));
      }
      end = range.end;
    }
    const uint64_t size = file_.size - data_begin_;
    if (end != size) {
      refuse(fmt::format(
          "the tensors end at {}, expected {}, the end of the file; the file has trailing bytes",
          end, size));
    }
  }

  const FileBuffer& file_;
  const std::string& path_;
  std::string_view text_;
  uint64_t data_begin_ = 0;
  std::vector<TensorRange> tensors_;
};

void add_once(nlohmann::ordered_json& object, std::set<std::string>& names, const std::string& name,
              nlohmann::ordered_json value) {
  if (!names.insert(name).second || name == kMetadata) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("safetensors: duplicate name {}", in_quotes(name)));
  }
  object.push_back({name, std::move(value)});
}

}  // namespace

uint64_t header_length(std::span<const std::byte> begin) {
  uint64_t length = 0;
  std::memcpy(&length, begin.data(), kLengthBytes);
  return length;
}

Safetensors parse_safetensors(const FileBuffer& file, const std::string& path) {
  return HeaderReader(file, path).read();
}

std::string make_header(const Safetensors& content, const std::vector<const Named*>& order) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) {
    std::set<std::string> names;
    nlohmann::ordered_json metadata = nlohmann::ordered_json::object();
    for (const auto& [name, text] : content.metadata) add_once(metadata, names, name, text);
    header[kMetadata] = std::move(metadata);
  }
  std::set<std::string> names;
  uint64_t offset = 0;
  for (const Named* named : order) {
    const auto& [name, tensor] = *named;
    const uint64_t end = offset + tensor.num_bytes();
    add_once(header, names, name,
             {{"dtype", dtype_code(tensor.dtype)},
              {"shape", tensor.shape},
              {"data_offsets", {offset, end}}});
    offset = end;
  }
  try {
    return header.dump();
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kRuntime, fmt::format("safetensors: {}", error.what()));
  }
}

}  // namespace trainer::archive
