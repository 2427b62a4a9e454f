// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace trainer {
class JsonReader;
}

namespace trainer::run {

/// Facts about machine and build, for system.json and bug reports.
nlohmann::ordered_json system_info();

/// An accelerator of system.json (device/description.h) in words: "cuda:0 NVIDIA A100, 40.0 GiB,
/// driver 550.54.15".
std::string accelerator_text(const JsonReader& accelerator);

/// "2026-11-21T03:45:00+0000", local time with its offset.
std::string timestamp();

}  // namespace trainer::run
