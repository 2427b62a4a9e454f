// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trainer/config/distributed_config.h"
#include "trainer/launch/place.h"

/// The processes of a launcher that share the runs of a series: rank 0 opens its folder and tells
/// the others, each of which trains whole runs.
namespace trainer::experiments {

/// The place of this process among those that share the runs; it is alone without a launcher, an
/// environment, or with distributed.enabled=off. Other ranks than 0 show from now on warnings and
/// errors only, which begin with their rank. Throws as launch::find_place().
launch::Place join_ranks(const config::DistributedConfig& distributed,
                         const launch::Environment& environment);

/// The name of a folder, on every rank: `open` returns it and is called on rank 0 only. When this
/// returns on rank 0, all ranks have called it, within `timeout` seconds. Files for it, if it needs
/// any, are in `meeting`.
/// Throws the errors of `open`, on other ranks Error(kFileSystem) if it failed, and those of
/// launch::share_text().
std::string open_for_all(const launch::Place& place, double timeout,
                         const launch::Environment& environment,
                         const std::filesystem::path& meeting,
                         const std::function<std::string()>& open);

}  // namespace trainer::experiments
