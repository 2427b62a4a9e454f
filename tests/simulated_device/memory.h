// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

/// Memory that has two addresses, a fixed distance apart. The one that tensors of the device know
/// may never be touched; at the other one it is plain memory. So nothing is ever unprotected, not
/// even for the threads of an operator.
namespace trainer::test::simulated {

constexpr c10::DeviceType kType = c10::DeviceType::SIMULATED_DEVICE;
constexpr bool kIsMps = kType == c10::DeviceType::MPS;
constexpr bool kIsCuda = kType == c10::DeviceType::CUDA;

/// The only one.
inline c10::Device the_device() { return {kType, 0}; }

/// The operator that a thread is in.
struct ThreadOperator {
  int depth = 0;              // of operators within operators
  const char* name = "none";  // of the last one, also afterwards
};
ThreadOperator& thread_operator();

/// For the time of an operator: the CPU's kernels get memory of the device.
class InOperator {
 public:
  InOperator() { ++thread_operator().depth; }
  ~InOperator() { --thread_operator().depth; }
  InOperator(const InOperator&) = delete;
  InOperator& operator=(const InOperator&) = delete;
};

bool is_device_address(const void* p);
bool is_plain_address(const void* p);
void* to_plain(const void* device_address);
void* to_device(const void* plain_address);

struct State;

/// Throws what the device does when memory runs out.
[[noreturn]] void throw_out_of_memory(const State& s, int64_t bytes);

/// The device address of new memory, filled with bytes 0xFF (NaN, -1), so that reading what was
/// never written shows. Throws as the device does if the budget is exceeded.
void* allocate(std::size_t bytes);

int64_t bytes_in_use();

/// Owns the memory at a device address; null is allowed.
c10::DataPtr device_data(void* device_address);

c10::Allocator& device_allocator();
/// The CPU's allocator, but for the memory that operators of the device ask for.
c10::Allocator& operator_allocator();
/// Makes them those of LibTorch.
void install_allocators();

/// The operator that made the memory at a device address. Takes no lock: for a process that ends.
const char* maker_of(const void* device_address);

}  // namespace trainer::test::simulated
