// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/tensorboard/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/parse.h"

#include "report/tensorboard/confusion_image.h"
#include "report/tensorboard/event_file.h"

namespace trainer::tensorboard {
namespace {

namespace fs = std::filesystem;

// Field numbers of event.proto, summary.proto, histogram.proto and the HParams plugin's
// hparams.proto.
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr int kStatus = 1;
constexpr uint64_t kStart = 1;
constexpr int kValue = 1, kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5, kTensor = 8,
              kMetadata = 9;
constexpr int kHeight = 1, kWidth = 2, kColorspace = 3, kEncodedImage = 4;
constexpr uint64_t kRgb = 3;
constexpr int kType = 1, kShape = 2, kString = 8;
constexpr uint64_t kStringType = 7;
constexpr int kMin = 1, kMax = 2, kCount = 3, kSum = 4, kSumOfSquares = 5, kLimits = 6,
              kBuckets = 7;
constexpr int kPluginData = 1, kPluginName = 1, kPluginContent = 2;
constexpr int kSessionStartInfo = 3, kHyperparameters = 1, kStartTime = 5;
constexpr int kMapKey = 1, kMapValue = 2, kNumberValue = 2, kStringValue = 3;
constexpr std::size_t kNumBuckets = 30;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::array<uint32_t, 256> make_table() {
  constexpr uint32_t kCastagnoli = 0x82F63B78;  // with reversed bits
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}

std::string little_endian(uint64_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string with_crc(std::string_view bytes) {
  return std::string(bytes) +
         little_endian(masked_crc32c(std::as_bytes(std::span(bytes.data(), bytes.size()))), 4);
}

Message event_at(int64_t step) {
  Message event;
  event.float64(kWallTime, now());
  if (step > 0) event.varint(kStep, static_cast<uint64_t>(step));
  return event;
}

std::string with_value(int64_t step, const Message& value) {
  Message summary;
  summary.message(kValue, value);
  Message event = event_at(step);
  event.message(kSummary, summary);
  return event.bytes();
}

Message of_plugin(std::string_view name, std::string_view content) {
  Message plugin;
  plugin.text(kPluginName, name);
  if (!content.empty()) plugin.text(kPluginContent, content);
  Message metadata;
  metadata.message(kPluginData, plugin);
  return metadata;
}

[[noreturn]] void refuse(const fs::path& path) {
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", path.string(),
                                                  std::generic_category().message(errno)));
}

/// Returns a name that TensorBoard accepts: it must contain "tfevents", and later files must sort
/// behind earlier ones.
std::string file_name() {
  static std::atomic<int> count{0};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("events.out.tfevents.{:010}.{}.{}.{}", static_cast<int64_t>(now()),
                     host.data(), getpid(), count++);
}

}  // namespace

uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  static const std::array<uint32_t, 256> table = make_table();
  constexpr uint32_t kMask = 0xA282EAD8;
  uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc = table[(crc ^ std::to_integer<uint32_t>(byte)) & 0xFF] ^ (crc >> 8);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + kMask;
}

EventFile::EventFile(const fs::path& folder, int64_t first_step) : path_(folder / file_name()) {
  std::error_code error;
  fs::create_directories(folder, error);
  constexpr mode_t kMode = 0644;
  descriptor_ = until_done([&] {
    return open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kMode);
  });
  if (descriptor_ < 0) refuse(path_);
  Message event;
  event.float64(kWallTime, now()).text(kFileVersion, "brain.Event:2");
  add(event.bytes());
  if (first_step > 0) go_back_to(first_step);
}

EventFile::~EventFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

EventFile& EventFile::operator=(EventFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void EventFile::add_scalar(const std::string& tag, double value, int64_t step) {
  if (descriptor_ < 0) return;
  Message scalar;
  scalar.text(kTag, tag).float32(kSimpleValue, static_cast<float>(value));
  add(with_value(step, scalar));
}

void EventFile::add_histogram(const std::string& tag, std::span<const float> values, int64_t step) {
  if (descriptor_ < 0) return;
  double low = 0;
  double high = 0;
  double sum = 0;
  double squares = 0;
  int64_t count = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto number = static_cast<double>(value);
    low = count == 0 ? number : std::min(low, number);
    high = count == 0 ? number : std::max(high, number);
    sum += number;
    squares += number * number;
    ++count;
  }
  if (count == 0) return;
  const std::size_t num_buckets = high > low ? kNumBuckets : 1;
  std::vector<double> limits(num_buckets);
  std::vector<double> counts(num_buckets);
  const double width = (high - low) / static_cast<double>(num_buckets);
  for (std::size_t i = 0; i < num_buckets; ++i) {
    limits[i] = i + 1 == num_buckets ? high : low + static_cast<double>(i + 1) * width;
  }
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double place = width > 0 ? (static_cast<double>(value) - low) / width : 0;
    ++counts[std::min(static_cast<std::size_t>(place), num_buckets - 1)];
  }
  Message histogram;
  histogram.float64(kMin, low)
      .float64(kMax, high)
      .float64(kCount, static_cast<double>(count))
      .float64(kSum, sum)
      .float64(kSumOfSquares, squares)
      .float64s(kLimits, limits)
      .float64s(kBuckets, counts);
  Message value;
  value.text(kTag, tag).message(kHistogram, histogram);
  add(with_value(step, value));
}

void EventFile::add_image(const std::string& tag, const Image& image, int64_t step) {
  if (descriptor_ < 0) return;
  Message encoded;
  encoded.varint(kHeight, static_cast<uint64_t>(image.height))
      .varint(kWidth, static_cast<uint64_t>(image.width))
      .varint(kColorspace, kRgb)
      .text(kEncodedImage, png_bytes(image));
  Message value;
  value.text(kTag, tag).message(kImage, encoded);
  add(with_value(step, value));
}

void EventFile::add_text(const std::string& tag, const std::string& text, int64_t step) {
  if (descriptor_ < 0) return;
  Message tensor;  // without dimensions: a single text
  tensor.varint(kType, kStringType).message(kShape, Message()).text(kString, text);
  Message value;
  value.text(kTag, tag).message(kMetadata, of_plugin("text", "")).message(kTensor, tensor);
  add(with_value(step, value));
}

void EventFile::add_hyperparameters(const std::vector<NamedText>& hyperparameters) {
  if (descriptor_ < 0) return;
  Message info;
  for (const auto& [name, text] : hyperparameters) {
    Message value;  // google.protobuf.Value
    if (const auto number = parse_double(text)) {
      value.float64(kNumberValue, *number);
    } else {
      value.text(kStringValue, text);
    }
    Message entry;
    entry.text(kMapKey, name).message(kMapValue, value);
    info.message(kHyperparameters, entry);
  }
  info.float64(kStartTime, now());
  Message content;  // HParamsPluginData; its version is 0
  content.message(kSessionStartInfo, info);
  Message value;
  value.text(kTag, "_hparams_/session_start_info")
      .message(kMetadata, of_plugin("hparams", content.bytes()));
  add(with_value(0, value));
}

void EventFile::go_back_to(int64_t step) {
  if (descriptor_ < 0) return;
  Message session;
  session.varint(kStatus, kStart);
  Message event = event_at(step);
  event.message(kSessionLog, session);
  add(event.bytes());
}

// A record is written by one system call, so that no reader sees a part of it.
void EventFile::add(std::string_view event) {
  const std::string record = with_crc(little_endian(event.size(), 8)) + with_crc(event);
  std::size_t done = 0;
  while (done < record.size()) {
    const ssize_t written =
        until_done([&] { return write(descriptor_, record.data() + done, record.size() - done); });
    if (written < 0) refuse(path_);
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace trainer::tensorboard
