// SPDX-License-Identifier: Apache-2.0
// Turns facts into findings. Every threshold is the point where something that this program does
// begins to fail or to be slow.
#include "trainer/diagnose/doctor/checks.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::doctor {
namespace {

constexpr double kBusyShare = 0.5;  // load per CPU above which the machine counts as busy
constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kGibibyte = int64_t{1} << 30;
constexpr int64_t kMinMemory = 400 * kMebibyte;  // for LibTorch and a small run
constexpr uint64_t kMinAddressSpace = 2 * kGibibyte;
constexpr uint64_t kMinFiles = 64;
constexpr uint64_t kMinSpace = 50 * kMebibyte;
constexpr double kSlowDisk = 20e6;  // bytes per second
constexpr double kSlowSync = 0.1;   // seconds

std::string bytes_text(int64_t bytes) { return human_bytes(static_cast<uint64_t>(bytes)); }

std::string flops_text(double flops) { return fmt::format("{:.0f} GFLOP/s", 1e-9 * flops); }

Finding check_kernels(const CpuFacts& cpu) {
  std::string text = fmt::format("{}: kernels for {}", cpu.model, cpu.kernels);
  if (!cpu.instructions.empty()) text += fmt::format("; it has {}", joined(cpu.instructions));
  if (cpu.is_x86 && cpu.instructions.empty()) {
    return {"CPU", Status::kNote, text + ", as it has no AVX2",
            "training is several times faster with AVX2; a virtual machine may have to be told to "
            "show it (QEMU: -cpu host)"};
  }
  return {"CPU", Status::kGood, text, ""};
}

Finding check_count(const CpuFacts& cpu) {
  std::string text = fmt::format("{} of {} may be used", cpu.num_usable, cpu.num_logical);
  if (cpu.limits.affinity < cpu.num_logical)
    text += "; the affinity of this process allows no more";
  if (cpu.limits.quota > 0 && cpu.limits.quota < static_cast<double>(cpu.limits.affinity)) {
    text += fmt::format("; the quota of the cgroup is {} CPUs", shortest(cpu.limits.quota));
    if (cpu.limits.quota < 1) {
      return {"CPUs", Status::kNote, text,
              "a process with less than one CPU is stopped most of the time; give the container "
              "at least one"};
    }
  }
  return {"CPUs", Status::kGood, text, ""};
}

Finding check_threads(const CpuFacts& cpu) {
  const std::string& value = cpu.omp_num_threads;
  if (value.empty()) {
    return {"threads", Status::kGood, "chosen by measuring (OMP_NUM_THREADS is not set)", ""};
  }
  const std::optional<int64_t> threads = openmp_threads(value.c_str());
  if (!threads) {
    return {"threads", Status::kNote,
            fmt::format("OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got {}",
                        in_quotes(value)),
            "correct or unset the variable; it is ignored"};
  }
  const std::string text =
      fmt::format("OMP_NUM_THREADS={}, for {}", *threads, counted(cpu.num_usable, "usable CPU"));
  if (*threads > cpu.num_usable) {
    return {"threads", Status::kNote, text,
            "threads that wait for each other are slow on fewer CPUs; unset the variable, or lower "
            "it"};
  }
  return {"threads", Status::kGood, text, ""};
}

Finding check_load(const CpuFacts& cpu) {
  const std::string text = fmt::format("{:.1f} programs wanted one of {} in the last minute",
                                       cpu.load, counted(cpu.num_logical, "CPU"));
  if (cpu.load <= kBusyShare * static_cast<double>(cpu.num_logical)) {
    return {"load", Status::kGood, text, ""};
  }
  return {"load", Status::kNote, text,
          "times that are measured now say little; end other programs to train fast"};
}

}  // namespace

std::vector<Finding> check(const CpuFacts& cpu) {
  return {check_kernels(cpu), check_count(cpu), check_threads(cpu), check_load(cpu)};
}

Finding check(const SpeedFacts& speed) {
  std::string text = flops_text(speed.flops_of_one_thread) + " with one thread";
  if (speed.num_threads > 1) {
    text += fmt::format(", {} with {}", flops_text(speed.peak.flops_per_second), speed.num_threads);
  }
  text += fmt::format("; memory {:.0f} GB/s", 1e-9 * speed.peak.bytes_per_second);
  return {"peak", Status::kGood, text, ""};
}

std::vector<Finding> check(const MemoryFacts& memory) {
  const int64_t total = memory.total.value_or(memory.machine);
  Finding main{"memory", Status::kGood, bytes_text(total), ""};
  if (total < memory.machine) {
    main.text +=
        fmt::format(" (limit of the cgroup; the machine has {})", bytes_text(memory.machine));
  }
  if (memory.available) {
    main.text += fmt::format(", {} available", bytes_text(*memory.available));
    if (*memory.available < kMinMemory) {
      main.status = Status::kProblem;
      main.advice = fmt::format(
          "LibTorch and a small run need {}; end other programs, or give the "
          "container more memory",
          bytes_text(kMinMemory));
    }
  }
  Finding swap{"swap", Status::kGood, "none", ""};
  if (memory.swap > 0) {
    swap.text =
        fmt::format("{} of {} in use", bytes_text(memory.swap_used), bytes_text(memory.swap));
    if (memory.swap_used > kGibibyte && memory.available.value_or(total) < total / 10) {
      swap.status = Status::kNote;
      swap.advice = "memory is short: whatever waits for the swap is slow; end other programs";
    }
  }
  return {main, swap};
}

std::vector<Finding> check(const LimitFacts& limits) {
  Finding files{"open files", Status::kGood, "no limit", ""};
  if (limits.open_files) {
    files.text = fmt::format(
        "up to {}",
        with_thousands(static_cast<int64_t>(std::min<uint64_t>(*limits.open_files, INT64_MAX))));
    if (*limits.open_files < kMinFiles) {
      files.status = Status::kProblem;
      files.advice = "libraries, checkpoints and data files need more; ulimit -n 1024";
    }
  }
  if (!limits.address_space) return {files};
  Finding space{"addresses", Status::kGood,
                fmt::format("up to {} of address space", human_bytes(*limits.address_space)), ""};
  if (*limits.address_space < kMinAddressSpace) {
    space.status = Status::kProblem;
    space.advice = "LibTorch and its BLAS reserve more than they use; ulimit -v unlimited";
  }
  return {files, space};
}

std::vector<Finding> check(const FolderFacts& folder) {
  const std::string path = folder.path.string();
  if (!folder.problem.empty()) {
    return {{"run folder", Status::kProblem, fmt::format("{}: {}", path, folder.problem),
             "choose another folder with output_dir (--output-dir), or mend this one"}};
  }
  Finding space{"run folder", Status::kGood,
                fmt::format("{}: can be written, {} free", path, human_bytes(folder.free_bytes)),
                ""};
  if (!folder.file_system.empty()) space.text += fmt::format(" ({})", folder.file_system);
  if (folder.free_bytes < kMinSpace) {
    space.status = Status::kProblem;
    space.advice =
        "a run needs room for its checkpoints; free some space, or choose another folder";
  } else if (!folder.lock_problem.empty()) {
    space.status = Status::kNote;
    space.text += fmt::format("; files cannot be locked: {}", folder.lock_problem);
    space.advice = "two processes that resume one run are not kept apart there";
  } else if (folder.file_system == "tmpfs") {
    space.status = Status::kNote;
    space.advice = "it is in memory: runs are gone after a restart of the machine";
  }
  if (folder.bytes_per_second == 0) return {space};
  Finding speed{"disk", Status::kGood,
                fmt::format("{}/s written and synced, {} for a small file",
                            human_bytes(static_cast<uint64_t>(folder.bytes_per_second)),
                            precise_duration(folder.sync_seconds)),
                ""};
  if (folder.bytes_per_second < kSlowDisk || folder.sync_seconds > kSlowSync) {
    speed.status = Status::kNote;
    speed.advice =
        "checkpoints take long there; choose a local disk, or write them less often "
        "(checkpoint.every_epochs)";
  }
  return {space, speed};
}

Finding check(const LibraryFacts& library) {
  if (library.is_there) {
    return {library.name, Status::kGood, fmt::format("{}, for {}", library.text, library.purpose),
            ""};
  }
  return {library.name, Status::kNote,
          fmt::format("{} (only needed for {})", library.text, library.purpose), library.advice};
}

Finding check(const TerminalFacts& terminal) {
  if (!terminal.is_terminal) {
    return {"terminal", Status::kGood, "none: plain lines, without colors", ""};
  }
  const std::string text = fmt::format(
      "{}, {} columns, {}, {}", terminal.name.empty() ? "TERM is not set" : terminal.name,
      terminal.features.width, terminal.features.colors ? "colors" : "no colors",
      terminal.locale.empty() ? "no locale" : terminal.locale);
  if (terminal.features.unicode) return {"terminal", Status::kGood, text, ""};
  return {"terminal", Status::kNote, text,
          "bars and curves are drawn in ASCII; a locale with UTF-8 draws them finer: export "
          "LC_ALL=C.UTF-8"};
}

Finding check(const LauncherFacts& launcher) {
  if (!launcher.problem.empty()) {
    return {"processes", Status::kProblem, launcher.problem, "see docs/distributed.md"};
  }
  if (launcher.name.empty()) return {"processes", Status::kGood, "one: no launcher", ""};
  return {"processes", Status::kGood,
          fmt::format("rank {} of {}, started by {}", launcher.rank, launcher.size, launcher.name),
          ""};
}

const char* name_of(Status status) {
  switch (status) {
    case Status::kGood:
      return "good";
    case Status::kNote:
      return "note";
    case Status::kProblem:
      break;
  }
  return "problem";
}

Status worst(const std::vector<Finding>& findings) {
  Status status = Status::kGood;
  for (const Finding& finding : findings) status = std::max(status, finding.status);
  return status;
}

std::string summary_text(const std::vector<Finding>& findings) {
  const auto count = [&](Status status) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& finding) { return finding.status == status; });
  };
  const int64_t problems = count(Status::kProblem);
  const int64_t notes = count(Status::kNote);
  if (problems == 0 && notes == 0) return "All is good.";
  return fmt::format("{}, {}.", problems == 0 ? "No problem" : counted(problems, "problem"),
                     notes == 0 ? "no note" : counted(notes, "note"));
}

namespace {

constexpr double kLargeDifference = 1e-3;
constexpr double kSlowProducts = 0.25;  // BLAS is slow below this fraction of the peak

Finding check_device(const DeviceFacts& device) {
  if (!device.problem.empty()) {
    return {device.name, Status::kProblem, device.problem,
            "train on another device (device: cpu), and check driver and LibTorch"};
  }
  std::string text =
      fmt::format("a small step takes {} ({}) and agrees with LibTorch on the CPU to {:.1e}",
                  precise_duration(device.step_seconds), device.step, device.difference);
  for (const PrecisionFacts& precision : device.precisions) {
    text += fmt::format("; {} {}", precision.name, precision.support);
  }
  // Written so that NaN is a problem too.
  if (!(device.difference <= kLargeDifference)) {
    return {device.name, Status::kProblem,
            fmt::format("weights after some steps differ from those of the CPU by {:.1e}",
                        device.difference),
            "its results are wrong: train on another device (device: cpu), and update LibTorch and "
            "the driver"};
  }
  return {device.name, Status::kGood, text, ""};
}

}  // namespace

std::vector<Finding> check(const EngineFacts& engine) {
  if (!engine.problem.empty()) {
    return {{"LibTorch", Status::kProblem, engine.problem,
             "nothing can be trained; predict, eval and export of trained models still work"}};
  }
  std::vector<Finding> findings = {{"LibTorch", Status::kGood,
                                    engine.library.empty()
                                        ? engine.libtorch
                                        : fmt::format("{}, {}", engine.libtorch, engine.library),
                                    ""}};
  for (const DeviceFacts& device : engine.devices) findings.push_back(check_device(device));
  return findings;
}

std::vector<Finding> check(const LoadedFacts& loaded) {
  // Their folders are in the JSON; on a terminal some are wider than a line.
  const auto names_of = [](std::vector<std::string> paths) {
    for (std::string& path : paths) path.erase(0, path.rfind('/') + 1);
    return joined(paths);
  };
  Finding openmp{"OpenMP", Status::kGood, loaded.openmp.empty() ? "none" : names_of(loaded.openmp),
                 ""};
  if (loaded.openmp.size() > 1) {
    openmp.status = Status::kProblem;
    openmp.text =
        fmt::format("{} runtimes in one process: {}", loaded.openmp.size(), joined(loaded.openmp));
    openmp.advice =
        "two of them can end a run or make it many times slower; remove a package that one is "
        "from, unset LD_PRELOAD, or build with another LibTorch (TRAINER_LIBTORCH=wheel)";
  }
  return {openmp,
          {"BLAS files", Status::kGood,
           loaded.blas.empty() ? "none: it is inside LibTorch" : names_of(loaded.blas), ""}};
}

Finding check(const BlasFacts& facts, double blas_flops, const SpeedFacts& speed) {
  const run::BlasInfo& blas = facts.blas;
  Finding finding{"BLAS", Status::kGood, blas.name, ""};
  if (!blas.core.empty()) finding.text += fmt::format(", kernels for {}", blas.core);
  if (!blas.mistaken.empty()) {
    finding.text +=
        fmt::format(" (it takes this CPU for {}; OPENBLAS_CORETYPE was set for it)", blas.mistaken);
  }
  const double peak = speed.peak.flops_per_second;
  const bool is_slow = (blas_flops > 0 && blas_flops < kSlowProducts * peak) ||
                       run::better_blas_core(blas.core, facts.vectors);
  if (blas_flops > 0) {
    finding.text += fmt::format(", {:.0f} GFLOP/s: {:.0f} % of the peak", 1e-9 * blas_flops,
                                100 * blas_flops / peak);
  }
  if (!blas.is_slow && !is_slow) return finding;
  finding.status = Status::kNote;
  if (blas.is_slow) {
    finding.advice =
        "autograd and half precision are many times slower than with OpenBLAS (Debian: "
        "libopenblas0-openmp, then scripts/setup.sh --select-blas)";
  } else if (facts.core_is_set) {
    finding.advice = "autograd and half precision are slow; unset OPENBLAS_CORETYPE";
  } else {
    finding.advice =
        "autograd and half precision are slow; a newer OpenBLAS may know this CPU. A "
        "busy machine is slow too";
  }
  return finding;
}

}  // namespace trainer::doctor
