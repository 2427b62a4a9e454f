// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Tells the CPU that the calling loop only waits, which leaves more of the core to its other
/// hardware thread.
inline void pause_spinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace trainer
