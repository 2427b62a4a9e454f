// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::dist {

/// Lets the calling thread, and all threads that it starts, run on every CPU, with a lower priority
/// than other threads.
void give_way();

/// Keeps LibTorch and Gloo from writing to the standard error, unless TORCH_CPP_LOG_LEVEL asks for
/// it.
void keep_quiet();

}  // namespace trainer::dist
