// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace trainer::test {

/// Waits until `is_so`, which another process brings about; false if it has not within five
/// minutes. So long no process takes to start, however busy the machine is: the limit is there for
/// one that hangs.
template <class Condition>
bool comes_true(const Condition& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace trainer::test
