// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Tells the CPU that this is a loop that waits, which leaves more of the core to its other thread.
inline void pause_spinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace trainer
