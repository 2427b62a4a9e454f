// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/memory.h"

#include <new>
#include <stdexcept>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "support/sanitizers.h"

namespace trainer::device {
namespace {

c10::Error libtorch_error(const char* text) { return {{__func__, __FILE__, __LINE__}, text}; }

TEST(MemoryTest, EveryAllocatorThatRunsOutIsRecognised) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(libtorch_error(
      "CUDA out of memory. Tried to allocate 20.00 GiB (GPU 0; 15.78 GiB total capacity)")));
  EXPECT_TRUE(is_out_of_memory(libtorch_error(
      "MPS backend out of memory (MPS allocated: 17.13 GB, other allocations: 12.40 MB)")));
  EXPECT_TRUE(is_out_of_memory(libtorch_error("Invalid buffer size: 17.00 GB")));
  EXPECT_TRUE(is_out_of_memory(libtorch_error(
      "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried "
      "to allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)")));
  EXPECT_TRUE(is_out_of_memory(
      libtorch_error("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.")));
}

TEST(MemoryTest, OtherErrorsAreNotTakenForIt) {
  EXPECT_FALSE(is_out_of_memory(libtorch_error("mat1 and mat2 shapes cannot be multiplied")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("row 3: \"out of memory\" is no label")));
}

TEST(MemoryTest, TheRealAllocatorIsRecognisedToo) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer ends the process instead";
  try {
    at::empty({int64_t{1} << 60}, at::kByte);
    FAIL() << "an exbibyte was allocated";
  } catch (const std::exception& e) {
    EXPECT_TRUE(is_out_of_memory(e)) << e.what();
  }
}

TEST(MemoryTest, TheCpuHasNoMemoryOfItsOwn) {
  EXPECT_FALSE(accelerator_memory(c10::Device(c10::kCPU)).has_value());
  release_cached_memory(c10::Device(c10::kCPU));
}

}  // namespace
}  // namespace trainer::device
