// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trainer/diagnose/doctor/checks.h"
#include "trainer/diagnose/doctor/facts.h"

namespace trainer::doctor {

/// All facts that `trainer doctor` collects.
struct Facts {
  CpuFacts cpu = {};
  SpeedFacts speed = {};
  MemoryFacts memory = {};
  LimitFacts limits = {};
  FolderFacts folder = {};
  std::vector<LibraryFacts> libraries = {};
  TerminalFacts terminal = {};
  LauncherFacts launcher = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
  BlasFacts blas = {};
  LoadedFacts loaded = {};
  EngineFacts engine = {};
};

/// The facts with the findings and run::system_info(), for bug reports.
nlohmann::ordered_json report_json(const Facts& facts, const std::vector<Finding>& findings);

}  // namespace trainer::doctor
