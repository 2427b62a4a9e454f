// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/distributed/world.h"
#include "trainer/launch/place.h"
#include "trainer/train/engine/engine.h"
#include "trainer/train/session.h"
#include "trainer/train/trials.h"

// The processes of a run: how they connect, and what they must agree on.
namespace trainer::engine {

/// The group of processes that a launcher has started to train one run.
struct Processes {
  launch::Place place;  // has no launcher if this process trains alone
  std::shared_ptr<dist::World> world = std::make_shared<dist::World>();
  std::vector<std::string> hosts;  // machine of each process
  int64_t sharing_cpus = 1;        // number of processes that use the CPUs of this one
};

/// Connects this process to the others that a launcher has started. Throws Error(kDevice).
Processes join_processes(const TrainRequest& request);

/// Connects the accelerators of all processes if distributed.backend is nccl. Throws
/// Error(kDevice).
void connect_devices(const Processes& processes, const config::Config& config, c10::Device device);

/// Sets distributed.shards unless it is configured: to the number of the resumed run, else to one
/// shard per process.
void decide_shards(const TrainRequest& request, const Processes& processes, config::Config& config);

/// Throws an Error on all processes if the version, step, resumed checkpoint, configuration or data
/// of one of them differ from those of the first, of the kind kDevice, kCheckpoint, kUsage or
/// kData. Only the first process prints it.
void require_agreement(const TrainRequest& request, const Processes& processes,
                       const train::Session& session);

/// The text on the processes in the run header, such as "4, started by mpirun (Open MPI): this is
/// rank 0; shared memory; 8 shards of a batch".
std::string processes_text(const Processes& processes, const config::Config& config);

/// The text on the exchange in the run header, such as "a step computes for 15 ms and adds
/// gradients for 1 ms", with a hint if a single process would be faster.
std::string exchange_text(const Processes& processes, const train::ExchangeTrial& trial);

/// The entry "distributed" of a start in system.json.
Json to_json(const Processes& processes, const config::Config& config,
             const std::optional<train::ExchangeTrial>& trial);

}  // namespace trainer::engine
