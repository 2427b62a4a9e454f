// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trainer/base/text/enum_names.h"

namespace trainer::config {

enum class Distributed { kAuto, kOff };
enum class Backend { kAuto, kGloo, kNccl };

/// The keys of the section `distributed`: how several processes train one run.
struct DistributedConfig {
  Distributed enabled = Distributed::kAuto;
  Backend backend = Backend::kAuto;
  int64_t shards = 0;  // 0: as many as there are processes at the start
  bool sync_batch_norm = true;
  double timeout = 60;
  double start_timeout = 600;
};

}  // namespace trainer::config

namespace trainer {

template <>
std::span<const std::string> enum_names<config::Distributed>();

template <>
std::span<const std::string> enum_names<config::Backend>();

}  // namespace trainer
