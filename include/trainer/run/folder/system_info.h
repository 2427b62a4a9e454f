// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace trainer {
class JsonReader;
}

namespace trainer::run {

/// Returns facts about machine and build, for system.json and bug reports.
nlohmann::ordered_json system_info();

/// Describes an accelerator of system.json (torch/device/description.h) in words, such as "cuda:0
/// NVIDIA A100, 40.0 GiB, driver 550.54.15".
std::string accelerator_text(const JsonReader& accelerator);

/// Returns the local time with its offset from UTC, such as "2026-11-21T03:45:00+0000".
std::string timestamp();

}  // namespace trainer::run
