// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/engine/engine.h"

namespace trainer::engine {

/// The table of functions of the engine library, for a program that opens it at run time.
struct Api {
  const char* version;  // of the library; stays the first member in all versions
  TrainReport (*train)(const TrainRequest& request);
  BatchSearchReport (*find_batch)(const BatchSearchRequest& request);
  ProfileReport (*profile)(const ProfileRequest& request);
  doctor::EngineFacts (*check_devices)();
  apply::ExportReport (*export_torchscript)(const apply::Model& model,
                                            const apply::ExportOptions& options,
                                            const std::filesystem::path& path);
};

/// The only symbol of the library that is looked up.
inline constexpr const char* kApiSymbol = "trainer_engine_api";

using ApiFunction = const Api* (*)();

}  // namespace trainer::engine

/// Returns the functions of this library, never null. Implemented in src/train/engine/engine.cpp.
extern "C" const trainer::engine::Api* trainer_engine_api();
