// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trainer/config/distributed_config.h"
#include "trainer/launch/place.h"

/// The processes of a launcher that share the runs of a series. Rank 0 opens its folder and tells
/// the others; then each trains whole runs.
namespace trainer::experiments {

/// Returns the rank of this process among those that share the runs. It is alone without a
/// launcher, with an empty `environment`, or with distributed.enabled=off. From now on, ranks other
/// than 0 show only warnings and errors, which begin with their rank. Throws the errors of
/// launch::find_place().
launch::Place join_ranks(const config::DistributedConfig& distributed,
                         const launch::Environment& environment);

/// Calls `open` on rank 0 and returns its result, the name of a folder, on every rank. When this
/// returns on rank 0, all ranks have called it, within `timeout` seconds. Files that are needed for
/// this are in the folder `meeting`.
/// Throws the errors of `open` on rank 0, Error(kFileSystem) on the other ranks if it failed, and
/// the errors of launch::share_text().
std::string open_for_all(const launch::Place& place, double timeout,
                         const launch::Environment& environment,
                         const std::filesystem::path& meeting,
                         const std::function<std::string()>& open);

}  // namespace trainer::experiments
