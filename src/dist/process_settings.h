// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::dist {

/// Lets the thread that calls it, and those that it starts, run on every CPU, after all others.
void give_way();

/// From now on LibTorch and Gloo write nothing to the standard error by themselves, unless
/// TORCH_CPP_LOG_LEVEL asks for it.
void keep_quiet();

}  // namespace trainer::dist
