// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "devices/results.h"

namespace trainer::bench {

/// Rows of the same model and batch size, workloads in the order of their first row.
std::vector<std::vector<Row>> by_workload(std::span<const Row> rows);

/// "mps_fp32 is 1.69x faster than cpu_fp32", the fastest row of a workload against each other one.
/// A difference is named only if it is larger than 5 % and than the noise of both; if the machine
/// was busy, a line says that instead.
std::vector<std::string> speed_lines(std::span<const Row> workload);

/// The recommended configuration of each workload, and why; none where the machine was busy, or the
/// noise hides which row is the fastest. Rows that are not sound are never recommended. Of rows
/// that are equally fast (within 5 %) the first one is, so simpler ones should come first.
std::string recommendation(std::span<const Row> rows);

}  // namespace trainer::bench
