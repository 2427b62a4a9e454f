// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// What some threads of this machine can do at best, together.
struct Peak {
  double flops_per_second = 0;  // multiply-adds in fp32, two operations each
  double bytes_per_second = 0;  // read from and written to main memory
};

/// Operations a second of the kernels in the first level cache, where no product is faster. The sum
/// of what each thread does at its best while the others work too, in about 50 ms.
double measure_flops(int64_t num_threads);

/// Both, in about 0.2 s: bytes by the triad a = b + s c of McCalpin's STREAM benchmark over 96 MiB,
/// without the read of `a` that the cache may do. A busy machine gives less.
Peak measure_peak(int64_t num_threads);

}  // namespace trainer::cpu
