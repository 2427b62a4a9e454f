// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/doctor/report.h"

#include <optional>

#include "trainer/base/text/json.h"
#include "trainer/run/folder/system_info.h"

namespace trainer::doctor {
namespace {

template <class Number>
Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json cpu_json(const CpuFacts& cpu, const SpeedFacts& speed) {
  return {{"instructions", cpu.instructions},
          {"kernels", cpu.kernels},
          {"logical", cpu.num_logical},
          {"affinity", cpu.limits.affinity},
          {"quota", cpu.limits.quota > 0 ? Json(cpu.limits.quota) : Json()},
          {"usable", cpu.num_usable},
          {"load_average", cpu.load},
          {"threads", speed.num_threads},
          {"flops_per_second_one_thread", speed.flops_of_one_thread},
          {"flops_per_second", speed.peak.flops_per_second},
          {"bytes_per_second", speed.peak.bytes_per_second}};
}

Json folder_json(const FolderFacts& folder) {
  return {{"path", folder.path.string()},        {"existing", folder.existing.string()},
          {"problem", folder.problem},           {"file_system", folder.file_system},
          {"free_bytes", folder.free_bytes},     {"bytes_per_second", folder.bytes_per_second},
          {"sync_seconds", folder.sync_seconds}, {"lock_problem", folder.lock_problem}};
}

Json engine_json(const EngineFacts& engine) {
  Json devices = Json::array();
  for (const DeviceFacts& device : engine.devices) {
    Json precisions = Json::object();
    for (const PrecisionFacts& precision : device.precisions) {
      precisions[precision.name] = {{"support", precision.support}, {"text", precision.text}};
    }
    devices.push_back({{"name", device.name},
                       {"problem", device.problem},
                       {"step", device.step},
                       {"step_seconds", device.step_seconds},
                       {"difference", device.difference},
                       {"precisions", precisions}});
  }
  return {{"problem", engine.problem},
          {"version", engine.libtorch},
          {"library", engine.library},
          {"blas_flops_per_second", engine.blas_flops},
          {"devices", devices}};
}

}  // namespace

Json report_json(const Facts& facts, const std::vector<Finding>& findings) {
  Json rows = Json::array();
  for (const Finding& finding : findings) {
    rows.push_back({{"name", finding.name},
                    {"status", name_of(finding.status)},
                    {"text", finding.text},
                    {"advice", finding.advice}});
  }
  Json libraries = Json::object();
  for (const LibraryFacts& library : facts.libraries) {
    libraries[library.name] = {{"is_there", library.is_there}, {"text", library.text}};
  }
  Json environment = Json::object();
  for (const auto& [name, value] : facts.environment) environment[name] = value;
  return {{"schema_version", 1},
          {"status", name_of(worst(findings))},
          {"findings", rows},
          {"system", run::system_info()},
          {"cpu", cpu_json(facts.cpu, facts.speed)},
          {"memory",
           {{"machine", facts.memory.machine},
            {"total", or_null(facts.memory.total)},
            {"available", or_null(facts.memory.available)},
            {"swap", facts.memory.swap},
            {"swap_used", facts.memory.swap_used}}},
          {"limits",
           {{"open_files", or_null(facts.limits.open_files)},
            {"address_space", or_null(facts.limits.address_space)}}},
          {"run_folder", folder_json(facts.folder)},
          {"libraries", libraries},
          {"terminal",
           {{"is_terminal", facts.terminal.is_terminal},
            {"name", facts.terminal.name},
            {"width", facts.terminal.features.width},
            {"locale", facts.terminal.locale}}},
          {"processes",
           {{"launcher", facts.launcher.name},
            {"rank", facts.launcher.rank},
            {"size", facts.launcher.size}}},
          {"environment", environment},
          {"libtorch", engine_json(facts.engine)},
          {"loaded", {{"openmp", facts.loaded.openmp}, {"blas", facts.loaded.blas}}}};
}

}  // namespace trainer::doctor
