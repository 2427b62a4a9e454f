// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/json.h"
#include "trainer/dist/world.h"
#include "trainer/engine/engine.h"
#include "trainer/launch/place.h"
#include "trainer/train/exchange_trial.h"
#include "trainer/train/session.h"

// The processes of a run: how they come together, and what they must agree on.
namespace trainer::engine {

/// The processes that a launcher has started to train one run, as this one sees them.
struct Processes {
  launch::Place place;  // of no launcher if this process trains alone
  std::shared_ptr<dist::World> world = std::make_shared<dist::World>();
  std::vector<std::string> hosts;  // of each process
  int64_t sharing_cpus = 1;        // processes that have the CPUs of this one
};

/// Connects this process to the others. Throws Error(kDevice).
Processes join_processes(const TrainRequest& request);

/// Connects the accelerators of all processes if distributed.backend says so. Throws
/// Error(kDevice).
void connect_devices(const Processes& processes, const config::Config& config, c10::Device device);

/// Decides distributed.shards: as in the resumed run, else one for each process.
void decide_shards(const TrainRequest& request, const Processes& processes, config::Config& config);

/// Throws Error(kUsage), Error(kData) or Error(kDevice) on all processes if version, configuration,
/// data or step of one differ from those of the first, and shows it on the first only.
void require_agreement(const TrainRequest& request, const Processes& processes,
                       const train::Session& session);

/// "4, started by mpirun (Open MPI): this is rank 0; shared memory; 8 shards of a batch"
std::string processes_text(const Processes& processes, const config::Config& config);

/// "a step computes for 15 ms and adds gradients for 1 ms", and whether one process would be
/// faster.
std::string exchange_text(const Processes& processes, const train::ExchangeTrial& trial);

/// For system.json.
Json to_json(const Processes& processes, const config::Config& config,
             const std::optional<train::ExchangeTrial>& trial);

}  // namespace trainer::engine
