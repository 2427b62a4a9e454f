// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// CPUs that this process may use: its affinity, cut to the cgroup's quota. At least 1.
int64_t usable_cpus();

}  // namespace trainer::cpu
