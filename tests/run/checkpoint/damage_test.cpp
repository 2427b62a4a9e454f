// SPDX-License-Identifier: Apache-2.0
// What read() makes of a checkpoint that a disk, a copy or a power failure has damaged. Thousands
// of damaged files are read in a child with little memory and a time limit: damage is to be
// refused with a message, and never to end in a crash, a hang or a huge allocation.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/checkpoints.h"
#include "support/child.h"
#include "support/files.h"
#include "support/sanitizers.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSector = 512;  // what a disk writes whole or not at all

// To the bit, and with what first_difference() leaves out.
bool is_same(const Checkpoint& a, const Checkpoint& b) {
  const auto same_path = [](const data::Fingerprint& x, const data::Fingerprint& y) {
    return x.path == y.path;
  };
  return !first_difference(a, b) && a.config == b.config && a.metrics_bytes == b.metrics_bytes &&
         std::equal(a.fingerprints.begin(), a.fingerprints.end(), b.fingerprints.begin(),
                    b.fingerprints.end(), same_path);
}

// A network with a hidden layer, whose tensors fill several sectors.
Checkpoint larger_checkpoint() {
  Checkpoint c = test::full_checkpoint();
  const auto tensor = [](std::vector<int64_t> shape) {
    const int64_t size =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    std::vector<float> values(static_cast<std::size_t>(size));
    std::iota(values.begin(), values.end(), 0.5F);
    return test::float_data(std::move(shape), values);
  };
  c.model = {{"layers.0.weight", tensor({24, 17})},
             {"layers.0.bias", tensor({24})},
             {"layers.1.weight", tensor({3, 24})},
             {"layers.1.bias", tensor({3})}};
  c.moments = {{"exp_avg", c.model}, {"exp_avg_sq", {}}};
  return c;
}

// Reads damaged copies of one checkpoint and counts what comes of them.
class DamagedCopies {
 public:
  DamagedCopies(const test::TemporaryFolder& folder, const Checkpoint& checkpoint)
      : folder_(folder), expected_(checkpoint) {
    const fs::path path = folder.path() / "original.pt";
    write(path, checkpoint);
    original_ = test::read_file(path);
  }

  // Throws std::runtime_error for a copy that is neither refused properly nor read as the original.
  void read_all() {
    flip_bytes();
    cut();
    zero_sectors();
    move_sectors();
  }

  std::size_t num_refused() const { return num_refused_; }
  std::size_t num_equal() const { return num_equal_; }

 private:
  enum class Allowed { kRefused, kRefusedOrEqual };

  void flip_bytes() {
    for (std::size_t i = 0; i < original_.size(); ++i) {
      for (const unsigned mask : {1U << i % 8, 0xFFU}) {
        std::string bytes = original_;
        bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ mask);
        check(bytes, Allowed::kRefusedOrEqual, fmt::format("byte {} changed by {}", i, mask));
      }
    }
  }

  void cut() {
    for (std::size_t size = 0; size < original_.size(); ++size) {
      check(original_.substr(0, size), Allowed::kRefused, fmt::format("cut to {}", size));
    }
  }

  // A tail of zeros is what a power failure leaves of a file whose length came to disk first.
  void zero_sectors() {
    for (std::size_t i = 0; i < original_.size(); i += kSector) {
      std::string bytes = original_;
      std::fill(bytes.begin() + at(i), bytes.begin() + at(i + kSector), '\0');
      check(bytes, Allowed::kRefusedOrEqual, fmt::format("zeros in sector {}", i / kSector));
      std::fill(bytes.begin() + at(i), bytes.end(), '\0');
      check(bytes, Allowed::kRefused, fmt::format("zeros from {} on", i));
    }
  }

  void move_sectors() {
    for (std::size_t i = 0; i < original_.size(); i += kSector) {
      const std::string sector = original_.substr(i, kSector);
      check(original_.substr(0, i) + sector + original_.substr(i), Allowed::kRefused,
            fmt::format("sector {} twice", i / kSector));
      for (std::size_t j = 0; j + kSector <= original_.size(); j += kSector) {
        if (j == i || sector.size() < kSector) continue;
        std::string bytes = original_;
        bytes.replace(j, kSector, sector);
        check(bytes, Allowed::kRefusedOrEqual,
              fmt::format("sector {} over {}", i / kSector, j / kSector));
        bytes.replace(i, kSector, original_, j, kSector);
        check(bytes, Allowed::kRefusedOrEqual,
              fmt::format("sectors {} and {} swapped", i / kSector, j / kSector));
      }
    }
  }

  std::ptrdiff_t at(std::size_t i) const {
    return static_cast<std::ptrdiff_t>(std::min(i, original_.size()));
  }

  void check(const std::string& bytes, Allowed allowed, const std::string& damage) {
    // A new file each time: file systems flush one that was cut to nothing and written again.
    fs::remove(folder_.path() / "damaged.pt");
    const fs::path path = folder_.write("damaged.pt", bytes);
    const std::string begin = path.string() + ": ";
    try {
      const bool equal = is_same(read(path), expected_);
      if (!equal) throw std::runtime_error(damage + ": is read as another checkpoint");
      if (allowed == Allowed::kRefused) throw std::runtime_error(damage + ": is not noticed");
      ++num_equal_;
    } catch (const Error& error) {
      const std::string message = error.what();
      const bool good = error.kind() == ErrorKind::kCheckpoint && message.starts_with(begin) &&
                        message.size() > begin.size();
      if (!good) throw std::runtime_error(fmt::format("{}: says \"{}\"", damage, message));
      ++num_refused_;
    }
  }

  const test::TemporaryFolder& folder_;
  const Checkpoint expected_;
  std::string original_;
  std::size_t num_refused_ = 0;
  std::size_t num_equal_ = 0;
};

template <class Resource>
void limit(Resource resource, rlim_t most) {
  const rlimit both{most, most};
  if (::setrlimit(resource, &both) != 0) throw std::runtime_error("cannot limit a resource");
}

void limit_memory() {
#ifdef __linux__
  constexpr rlim_t kMore = rlim_t{256} << 20;
  rlim_t num_pages = 0;
  std::ifstream("/proc/self/statm") >> num_pages;
  const rlim_t size = num_pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMore;
  if (!test::kHasAddressSanitizer) limit(RLIMIT_AS, size);
#endif
}

struct ChildResult {
  int status = 0;
  std::string text;
};

// What `call` returns, or "failed: " and what it throws, in a child process with little memory that
// a signal ends after ten minutes of computing.
template <class Call>
ChildResult in_limited_child(Call call) {
  constexpr rlim_t kMaxSeconds = 600;
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  test::Child child([&] {
    std::string text;
    try {
      limit(RLIMIT_CPU, kMaxSeconds);
      limit_memory();
      text = call();
    } catch (const std::exception& e) {
      text = std::string("failed: ") + e.what();
    }
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 0 : 1;
  });
  ::close(ends[1]);
  ChildResult result;
  char part[512];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof(part))) > 0;) {
    result.text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  result.status = child.wait();
  return result;
}

void expect_harmless(const Checkpoint& checkpoint) {
  const test::TemporaryFolder folder;
  const ChildResult result = in_limited_child([&] {
    DamagedCopies copies(folder, checkpoint);
    copies.read_all();
    return fmt::format("{} damaged files: {} refused, {} read as the original",
                       copies.num_refused() + copies.num_equal(), copies.num_refused(),
                       copies.num_equal());
  });
  EXPECT_EQ(result.status, 0) << "the child crashed or took too long";
  EXPECT_NE(result.text.find(" refused, "), std::string::npos) << result.text;
  testing::Test::RecordProperty("result", result.text);
  std::cout << result.text << '\n';
}

TEST(CheckpointDamageTest, OfASmallCheckpointIsRefusedOrHarmless) {
  expect_harmless(test::full_checkpoint());
}

TEST(CheckpointDamageTest, OfALargerCheckpointIsRefusedOrHarmless) {
  expect_harmless(larger_checkpoint());
}

}  // namespace
}  // namespace trainer::checkpoint
