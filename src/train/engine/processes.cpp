// SPDX-License-Identifier: Apache-2.0
#include "train/engine/processes.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/version.h"
#include "trainer/config/fields.h"
#include "trainer/distributed/join.h"
#include "trainer/distributed/rank_text.h"
#include "trainer/launch/place.h"

#include "train/engine/run_records.h"

namespace trainer::engine {
namespace {

#ifdef __linux__
// Returns the machine and the CPUs that this process may use, such as "host 0 1 5".
std::string cpus_text() {
  std::string text = launch::host_name();
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) text += fmt::format(" {}", i);
  }
  return text;
}

// mpirun binds each process to one CPU. The thread of Gloo, which polls for messages, and the
// training then alternate on it in time slices of milliseconds. So this function lets the processes
// of a machine share all their CPUs.
void share_cpus(const std::vector<std::string>& all) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::string& text : all) {
    std::istringstream words(text);
    std::string host;
    words >> host;
    if (host != launch::host_name()) continue;
    for (int cpu = 0; words >> cpu;) CPU_SET(cpu, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

// Returns how many processes, including this one, use the CPUs of this one.
int64_t count_sharing(const Processes& processes) {
  const dist::World& world = *processes.world;
  std::vector<std::string> all = world.gather_texts(cpus_text(), dist::Patience::kForStart);
  if (usable_cpus() == 1) share_cpus(all);
  const std::string mine = cpus_text();
  all = world.gather_texts(mine, dist::Patience::kForStart);
  return std::count(all.begin(), all.end(), mine);
}
#else
int64_t count_sharing(const Processes& processes) {
  return std::count(processes.hosts.begin(), processes.hosts.end(), launch::host_name());
}
#endif

/// A property that must be the same in all processes.
struct Fact {
  ErrorKind kind = ErrorKind::kUsage;
  std::string name;
  std::string value;
};

std::vector<Fact> facts_of(const TrainRequest& request, const train::Session& session) {
  std::vector<Fact> facts = {
      {ErrorKind::kDevice, "version of trainer",
       fmt::format("{} ({})", build_info().version, build_info().git_commit)},
      {ErrorKind::kDevice, "version of LibTorch", build_info().libtorch},
      {ErrorKind::kDevice, "step", step_text(session)},
      {ErrorKind::kCheckpoint, "resumed checkpoint",
       request.resume
           ? fmt::format("epoch {}, step {}", request.resume->checkpoint.state.position.epoch,
                         request.resume->checkpoint.state.position.step)
           : "none"}};
  for (const config::Field& field : config::fields()) {
    facts.push_back(
        {ErrorKind::kUsage, field.path, config::value_text(field.path, request.config.config)});
  }
  for (const data::Fingerprint& file : session.data.fingerprints) {
    facts.push_back({ErrorKind::kData, std::filesystem::path(file.path).filename().string(),
                     fmt::format("{} bytes, CRC-32 {:08x}", file.num_bytes, file.crc32)});
  }
  return facts;
}

std::string number_of(ErrorKind kind) { return std::to_string(static_cast<int>(kind)); }

std::string to_text(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    text += fmt::format("{}\n{}\n{}\n", number_of(fact.kind), fact.name, fact.value);
  }
  return text;
}

std::vector<Fact> parse_facts(const std::string& text) {
  std::istringstream lines(text);
  std::vector<Fact> facts;
  for (std::string kind; std::getline(lines, kind);) {
    Fact& fact = facts.emplace_back();
    if (kind == number_of(ErrorKind::kDevice)) fact.kind = ErrorKind::kDevice;
    if (kind == number_of(ErrorKind::kCheckpoint)) fact.kind = ErrorKind::kCheckpoint;
    if (kind == number_of(ErrorKind::kData)) fact.kind = ErrorKind::kData;
    std::getline(lines, fact.name);
    std::getline(lines, fact.value);
  }
  return facts;
}

// Throws an Error that lists the differences between the facts of rank 0 and those of another rank.
void require_same(const std::string& first, const std::string& other, std::size_t rank,
                  const std::string& host) {
  const std::vector<Fact> ours = parse_facts(first);
  const std::vector<Fact> theirs = parse_facts(other);
  std::vector<std::string> differences;
  ErrorKind kind = ErrorKind::kUsage;
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const Fact a = i < ours.size() ? ours[i] : Fact{};
    const Fact b = i < theirs.size() ? theirs[i] : Fact{};
    if (a.name == b.name && a.value == b.value) continue;
    if (differences.empty()) kind = a.name.empty() ? b.kind : a.kind;
    if (a.name == b.name) {
      differences.push_back(fmt::format("{}: {} on rank 0, {} here", a.name, a.value, b.value));
    } else {
      differences.push_back(
          fmt::format("{} ({}) on rank 0, {} ({}) here", a.name, a.value, b.name, b.value));
    }
  }
  throw Error(kind, fmt::format("rank {} ({}) cannot train the same run:\n  {}\nstart all "
                                "processes with the same program, configuration and files",
                                rank, host,
                                dist::shown(fmt::format("{}", fmt::join(differences, "\n  ")))));
}

}  // namespace

Processes join_processes(const TrainRequest& request) {
  const config::DistributedConfig& config = request.config.config.distributed;
  Processes processes;
  if (request.is_alone || config.enabled == config::Distributed::kOff) return processes;
  const launch::Place place = launch::find_place(launch::process_environment);
  if (place.size == 1) return processes;
  processes.place = place;
  log::set_rank(place.rank);
  launch::stop_with_launcher();
  processes.world = std::make_shared<dist::World>(
      dist::join({.place = place,
                  .folder = request.config.config.output_dir,
                  .shares_memory = config.backend != config::Backend::kGloo,
                  .timeout = in_milliseconds(config.timeout),
                  .start_timeout = in_milliseconds(config.start_timeout)}));
  for (const std::string& host :
       processes.world->gather_texts(launch::host_name(), dist::Patience::kForStart)) {
    processes.hosts.push_back(dist::shown(host));
  }
  processes.sharing_cpus = count_sharing(processes);
  return processes;
}

void connect_devices(const Processes& processes, const config::Config& config, c10::Device device) {
  if (config.distributed.backend != config::Backend::kNccl || processes.world->is_alone()) return;
  if (!device.is_cuda()) {
    throw Error(ErrorKind::kDevice,
                fmt::format("distributed.backend: nccl connects CUDA devices, and this process "
                            "trains on {}; use auto",
                            device.str()));
  }
  processes.world->connect_devices(device);
}

void decide_shards(const TrainRequest& request, const Processes& processes,
                   config::Config& config) {
  int64_t& shards = config.distributed.shards;
  if (shards > 0) return;
  shards = processes.world->size();
  if (!request.resume) return;
  const config::Document document{request.resume->file.string(), request.resume->checkpoint.config,
                                  ""};
  // Checkpoints of earlier versions lack the number of shards: their runs had one process.
  shards = std::max<int64_t>(1, config::load({document}, {}).config.distributed.shards);
}

void require_agreement(const TrainRequest& request, const Processes& processes,
                       const train::Session& session) {
  const dist::World& world = *processes.world;
  if (world.is_alone()) return;
  const std::vector<std::string> facts =
      world.gather_texts(to_text(facts_of(request, session)), dist::Patience::kForStart);
  for (std::size_t r = 1; r < facts.size(); ++r) {
    if (facts[r] == facts.front()) continue;
    if (!world.is_first()) log::set_console_level(log::Level::kNone);
    require_same(facts.front(), facts[r], r, processes.hosts[r]);
  }
}

std::string processes_text(const Processes& processes, const config::Config& config) {
  const int64_t shards = config.distributed.shards;
  std::string text =
      fmt::format("{}, started by {}: this is rank {}; {}; {} of a batch", processes.world->size(),
                  launch::name_of(processes.place.launcher), processes.world->rank(),
                  processes.world->transport_name(), counted(shards, "shard"));
  const int64_t idle = processes.world->size() - shards;
  if (idle > 0) {
    text += fmt::format("; {} without a shard: set distributed.shards to start a run with more",
                        counted(idle, "process"));
  }
  return text;
}

std::string exchange_text(const Processes& processes, const train::ExchangeTrial& trial) {
  std::string text = fmt::format("a step computes for {} and adds gradients for {}",
                                 human_duration(trial.compute), human_duration(trial.exchange));
  // A single process would have the CPUs of one machine only.
  constexpr double kWorthSaying = 1.1;
  const std::set<std::string> machines(processes.hosts.begin(), processes.hosts.end());
  const double alone = static_cast<double>(machines.size()) * trial.compute;
  if (trial.compute + trial.exchange > kWorthSaying * alone) {
    text += ": one process would be faster";
  }
  return text;
}

Json to_json(const Processes& processes, const config::Config& config,
             const std::optional<train::ExchangeTrial>& trial) {
  Json json = {{"launcher", launch::name_of(processes.place.launcher)},
               {"data_parallel_size", processes.world->size()},
               {"data_parallel_rank", processes.world->rank()},
               {"global_batch_size",
                config.training.batch_size * config.training.gradient_accumulation_steps},
               {"shards", config.distributed.shards},
               {"transport", processes.world->transport_name()},
               {"hosts", processes.hosts}};
  if (trial) {
    json["compute_seconds"] = trial->compute;
    json["exchange_seconds"] = trial->exchange;
  }
  return json;
}

}  // namespace trainer::engine
