// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace trainer::test::simulated {

/// Whether `function` touches device memory outside an operator. It is left there, and destructors
/// do not run. Without this, such an access ends the process and says which memory it was.
bool touches_device_memory(const std::function<void()>& function);

}  // namespace trainer::test::simulated
