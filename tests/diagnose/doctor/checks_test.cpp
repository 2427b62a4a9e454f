// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/doctor/checks.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainer::doctor {

// For messages of failed tests, by the name that GoogleTest looks for.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Finding& finding, std::ostream* out) {
  *out << name_of(finding.status) << " " << finding.name << ": " << finding.text << " -> "
       << finding.advice;
}

namespace {

constexpr int64_t kGibibyte = int64_t{1} << 30;

CpuFacts good_cpu() {
  return {.model = "A CPU",
          .is_x86 = true,
          .instructions = {"AVX2", "AVX-512"},
          .kernels = "AVX-512",
          .num_logical = 8,
          .limits = {.affinity = 8, .quota = 0},
          .num_usable = 8,
          .load = 1.25};
}

TEST(ChecksTest, AGoodCpuIsDescribed) {
  EXPECT_EQ(check(good_cpu()),
            (std::vector<Finding>{
                {"CPU", Status::kGood, "A CPU: kernels for AVX-512; it has AVX2 and AVX-512", ""},
                {"CPUs", Status::kGood, "8 of 8 may be used", ""},
                {"threads", Status::kGood, "chosen by measuring (OMP_NUM_THREADS is not set)", ""},
                {"load", Status::kGood, "1.2 programs wanted one of 8 CPUs in the last minute", ""},
            }));
}

TEST(ChecksTest, AnX86CpuWithoutAvx2IsNoted) {
  CpuFacts cpu = good_cpu();
  cpu.instructions = {};
  cpu.kernels = "baseline";
  EXPECT_EQ(check(cpu)[0],
            (Finding{"CPU", Status::kNote, "A CPU: kernels for baseline, as it has no AVX2",
                     "training is several times faster with AVX2; a virtual machine may have to be "
                     "told to show it (QEMU: -cpu host)"}));
  cpu.is_x86 = false;
  EXPECT_EQ(check(cpu)[0].status, Status::kGood);
}

TEST(ChecksTest, WhatLimitsTheCpusIsTold) {
  CpuFacts cpu = good_cpu();
  cpu.limits = {.affinity = 4, .quota = 2.5};
  cpu.num_usable = 2;
  EXPECT_EQ(check(cpu)[1],
            (Finding{"CPUs", Status::kGood,
                     "2 of 8 may be used; the affinity of this process allows no more; the quota "
                     "of the cgroup is 2.5 CPUs",
                     ""}));
  cpu.limits = {.affinity = 8, .quota = 0.5};
  cpu.num_usable = 1;
  EXPECT_EQ(
      check(cpu)[1],
      (Finding{"CPUs", Status::kNote, "1 of 8 may be used; the quota of the cgroup is 0.5 CPUs",
               "a process with less than one CPU is stopped most of the time; give the container "
               "at least one"}));
}

TEST(ChecksTest, TheThreadsOfOpenMpAreChecked) {
  CpuFacts cpu = good_cpu();
  cpu.omp_num_threads = "4";
  EXPECT_EQ(check(cpu)[2],
            (Finding{"threads", Status::kGood, "OMP_NUM_THREADS=4, for 8 usable CPUs", ""}));
  cpu.omp_num_threads = "16";
  EXPECT_EQ(check(cpu)[2],
            (Finding{"threads", Status::kNote, "OMP_NUM_THREADS=16, for 8 usable CPUs",
                     "threads that wait for each other are slow on fewer CPUs; unset the variable, "
                     "or lower it"}));
  cpu.omp_num_threads = "many";
  EXPECT_EQ(check(cpu)[2],
            (Finding{"threads", Status::kNote,
                     "OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got \"many\"",
                     "correct or unset the variable; it is ignored"}));
}

TEST(ChecksTest, ABusyMachineIsNoted) {
  CpuFacts cpu = good_cpu();
  cpu.load = 7.5;
  EXPECT_EQ(check(cpu)[3],
            (Finding{"load", Status::kNote, "7.5 programs wanted one of 8 CPUs in the last minute",
                     "times that are measured now say little; end other programs to train fast"}));
}

TEST(ChecksTest, ThePeakIsTold) {
  SpeedFacts speed{.flops_of_one_thread = 130e9,
                   .num_threads = 2,
                   .peak = {.flops_per_second = 255e9, .bytes_per_second = 21.4e9}};
  EXPECT_EQ(check(speed).text, "130 GFLOP/s with one thread, 255 GFLOP/s with 2; memory 21 GB/s");
  speed.num_threads = 1;
  EXPECT_EQ(check(speed).text, "130 GFLOP/s with one thread; memory 21 GB/s");
}

TEST(ChecksTest, MemoryThatIsShortIsAProblem) {
  MemoryFacts memory{
      .machine = 16 * kGibibyte, .total = 16 * kGibibyte, .available = 8 * kGibibyte};
  EXPECT_EQ(check(memory),
            (std::vector<Finding>{{"memory", Status::kGood, "16.0 GiB, 8.0 GiB available", ""},
                                  {"swap", Status::kGood, "none", ""}}));
  memory.total = 2 * kGibibyte;
  memory.available = kGibibyte / 4;
  memory.swap = 4 * kGibibyte;
  memory.swap_used = 2 * kGibibyte;
  EXPECT_EQ(check(memory),
            (std::vector<Finding>{
                {"memory", Status::kProblem,
                 "2.0 GiB (limit of the cgroup; the machine has 16.0 GiB), 256.0 MiB available",
                 "LibTorch and a small run need 400.0 MiB; end other programs, or give the "
                 "container more memory"},
                {"swap", Status::kGood, "2.0 GiB of 4.0 GiB in use", ""}}));
  memory.available = kGibibyte / 8;
  EXPECT_EQ(check(memory)[1],
            (Finding{"swap", Status::kNote, "2.0 GiB of 4.0 GiB in use",
                     "memory is short: whatever waits for the swap is slow; end other programs"}));
}

TEST(ChecksTest, LimitsThatAreTooLowAreProblems) {
  EXPECT_EQ(check(LimitFacts{}),
            (std::vector<Finding>{{"open files", Status::kGood, "no limit", ""}}));
  EXPECT_EQ(check(LimitFacts{.address_space = uint64_t{1} << 30, .open_files = 32}),
            (std::vector<Finding>{
                {"open files", Status::kProblem, "up to 32",
                 "libraries, checkpoints and data files need more; ulimit -n 1024"},
                {"addresses", Status::kProblem, "up to 1.0 GiB of address space",
                 "LibTorch and its BLAS reserve more than they use; ulimit -v unlimited"}}));
  EXPECT_EQ(check(LimitFacts{.open_files = 1024})[0].text, "up to 1,024");
}

FolderFacts good_folder() {
  return {.path = "runs",
          .existing = "/work",
          .file_system = "ext4",
          .free_bytes = uint64_t{1} << 33,
          .bytes_per_second = 500e6,
          .sync_seconds = 0.002};
}

TEST(ChecksTest, TheRunFolderIsDescribed) {
  EXPECT_EQ(check(good_folder()),
            (std::vector<Finding>{
                {"run folder", Status::kGood, "runs: can be written, 8.0 GiB free (ext4)", ""},
                {"disk", Status::kGood, "476.8 MiB/s written and synced, 2.00 ms for a small file",
                 ""}}));
}

TEST(ChecksTest, ARunFolderThatCannotBeUsedIsAProblem) {
  FolderFacts folder = good_folder();
  folder.problem = "/work/runs is a file";
  EXPECT_EQ(
      check(folder),
      (std::vector<Finding>{{"run folder", Status::kProblem, "runs: /work/runs is a file",
                             "choose another folder with output_dir (--output-dir), or mend this "
                             "one"}}));
  folder = good_folder();
  folder.free_bytes = 1 << 20;
  EXPECT_EQ(check(folder)[0],
            (Finding{"run folder", Status::kProblem, "runs: can be written, 1.0 MiB free (ext4)",
                     "a run needs room for its checkpoints; free some space, or choose another "
                     "folder"}));
}

TEST(ChecksTest, ARunFolderThatCouldBeBetterIsNoted) {
  FolderFacts folder = good_folder();
  folder.lock_problem = "No locks available";
  EXPECT_EQ(check(folder)[0],
            (Finding{"run folder", Status::kNote,
                     "runs: can be written, 8.0 GiB free (ext4); files cannot be locked: No locks "
                     "available",
                     "two processes that resume one run are not kept apart there"}));
  folder = good_folder();
  folder.file_system = "tmpfs";
  EXPECT_EQ(check(folder)[0].advice,
            "it is in memory: runs are gone after a restart of the machine");
  folder = good_folder();
  folder.bytes_per_second = 5e6;
  EXPECT_EQ(check(folder)[1].advice,
            "checkpoints take long there; choose a local disk, or write them less often "
            "(checkpoint.every_epochs)");
  folder.bytes_per_second = 0;  // not measured
  EXPECT_EQ(check(folder).size(), 1U);
}

TEST(ChecksTest, ALibraryThatIsMissingIsNoted) {
  LibraryFacts library{.name = "DuckDB",
                       .is_there = true,
                       .text = "v1.5.6",
                       .purpose = "Parquet",
                       .advice = "install it"};
  EXPECT_EQ(check(library), (Finding{"DuckDB", Status::kGood, "v1.5.6, for Parquet", ""}));
  library.is_there = false;
  library.text = "no such file";
  EXPECT_EQ(check(library), (Finding{"DuckDB", Status::kNote,
                                     "no such file (only needed for Parquet)", "install it"}));
}

TEST(ChecksTest, TheTerminalIsDescribed) {
  TerminalFacts facts{.is_terminal = true,
                      .features = {.redraws = true, .colors = true, .width = 120, .unicode = true},
                      .name = "xterm",
                      .locale = "C.UTF-8"};
  EXPECT_EQ(check(facts),
            (Finding{"terminal", Status::kGood, "xterm, 120 columns, colors, C.UTF-8", ""}));
  facts.features.unicode = false;
  facts.features.colors = false;
  facts.locale = "";
  facts.name = "";
  EXPECT_EQ(
      check(facts),
      (Finding{"terminal", Status::kNote, "TERM is not set, 120 columns, no colors, no locale",
               "bars and curves are drawn in ASCII; a locale with UTF-8 draws them finer: "
               "export LC_ALL=C.UTF-8"}));
  EXPECT_EQ(check(TerminalFacts{}).status, Status::kGood);
}

TEST(ChecksTest, TheLauncherIsDescribed) {
  EXPECT_EQ(check(LauncherFacts{}), (Finding{"processes", Status::kGood, "one: no launcher", ""}));
  EXPECT_EQ(check(LauncherFacts{.name = "torchrun", .rank = 1, .size = 4}),
            (Finding{"processes", Status::kGood, "rank 1 of 4, started by torchrun", ""}));
  EXPECT_EQ(check(LauncherFacts{.problem = "RANK: ..."}),
            (Finding{"processes", Status::kProblem, "RANK: ...", "see docs/distributed.md"}));
}

TEST(ChecksTest, WithoutLibTorchNothingCanBeTrained) {
  EXPECT_EQ(check(EngineFacts{.problem = "cannot load it"}),
            (std::vector<Finding>{{"LibTorch", Status::kProblem, "cannot load it",
                                   "nothing can be trained; predict, eval and export of trained "
                                   "models still work"}}));
}

TEST(ChecksTest, DevicesAreComparedWithTheCpu) {
  EngineFacts engine{.libtorch = "2.6.0", .library = "/lib/libtorch_cpu.so"};
  engine.devices = {{.name = "cpu",
                     .step = "fused (AVX2)",
                     .step_seconds = 150e-6,
                     .difference = 1.34e-7,
                     .precisions = {{"bf16", "good", ""}, {"fp16", "slow", "why"}}},
                    {.name = "mps", .problem = "no kernel"},
                    {.name = "cuda:0", .step = "autograd", .difference = 0.25},
                    {.name = "cuda:1",
                     .step = "autograd",
                     .difference = std::numeric_limits<double>::quiet_NaN()}};
  const std::string wrong =
      "its results are wrong: train on another device (device: cpu), and update LibTorch and the "
      "driver";
  EXPECT_EQ(check(engine),
            (std::vector<Finding>{
                {"LibTorch", Status::kGood, "2.6.0, /lib/libtorch_cpu.so", ""},
                {"cpu", Status::kGood,
                 "a small step takes 150 us (fused (AVX2)) and agrees with LibTorch on the CPU to "
                 "1.3e-07; bf16 good; fp16 slow",
                 ""},
                {"mps", Status::kProblem, "no kernel",
                 "train on another device (device: cpu), and check driver and LibTorch"},
                {"cuda:0", Status::kProblem,
                 "weights after some steps differ from those of the CPU by 2.5e-01", wrong},
                {"cuda:1", Status::kProblem,
                 "weights after some steps differ from those of the CPU by nan", wrong}}));
}

TEST(ChecksTest, LoadedLibrariesAreListed) {
  EXPECT_EQ(
      check(LoadedFacts{.openmp = {"/lib/libgomp.so.1"}}),
      (std::vector<Finding>{{"OpenMP", Status::kGood, "libgomp.so.1", ""},
                            {"BLAS files", Status::kGood, "none: it is inside LibTorch", ""}}));
  EXPECT_EQ(check(LoadedFacts{.blas = {"/lib/libblas.so.3", "/lib/libopenblas.so.0"}}),
            (std::vector<Finding>{
                {"OpenMP", Status::kGood, "none", ""},
                {"BLAS files", Status::kGood, "libblas.so.3 and libopenblas.so.0", ""}}));
}

TEST(ChecksTest, TwoOpenMpRuntimesAreAProblem) {
  EXPECT_EQ(check(LoadedFacts{.openmp = {"/lib/libgomp.so.1", "/conda/libiomp5.so"}}).front(),
            (Finding{"OpenMP", Status::kProblem,
                     "2 runtimes in one process: /lib/libgomp.so.1 and /conda/libiomp5.so",
                     "two of them can end a run or make it many times slower; remove a package "
                     "that one is from, unset LD_PRELOAD, or build with another LibTorch "
                     "(TRAINER_LIBTORCH=wheel)"}));
}

TEST(ChecksTest, ASlowBlasIsNoted) {
  const SpeedFacts speed{.peak = {.flops_per_second = 200e9}};
  BlasFacts facts{.blas = {.name = "OpenBLAS 0.3.21 (OpenMP)", .core = "SkylakeX"}};
  EXPECT_EQ(
      check(facts, 180e9, speed),
      (Finding{"BLAS", Status::kGood,
               "OpenBLAS 0.3.21 (OpenMP), kernels for SkylakeX, 180 GFLOP/s: 90 % of the peak",
               ""}));
  facts.blas.mistaken = "Prescott";
  EXPECT_EQ(check(facts, 0, speed),
            (Finding{"BLAS", Status::kGood,
                     "OpenBLAS 0.3.21 (OpenMP), kernels for SkylakeX (it takes this CPU for "
                     "Prescott; OPENBLAS_CORETYPE was set for it)",
                     ""}));
  facts.blas.mistaken = "";
  facts.core_is_set = true;
  EXPECT_EQ(check(facts, 40e9, speed).advice,
            "autograd and half precision are slow; unset OPENBLAS_CORETYPE");
  facts.core_is_set = false;
  EXPECT_EQ(check(facts, 40e9, speed).advice,
            "autograd and half precision are slow; a newer OpenBLAS may know this CPU. A busy "
            "machine is slow too");
  facts.blas.core = "Prescott";
  facts.vectors = run::Vectors::kAvx2;
  EXPECT_EQ(check(facts, 150e9, speed).status, Status::kNote);
  facts.blas = {.name = "/lib/libblas.so.3.11.0", .is_slow = true};
  EXPECT_EQ(
      check(facts, 2e9, speed),
      (Finding{"BLAS", Status::kNote, "/lib/libblas.so.3.11.0, 2 GFLOP/s: 1 % of the peak",
               "autograd and half precision are many times slower than with OpenBLAS (Debian: "
               "libopenblas0-openmp, then scripts/setup.sh --select-blas)"}));
}

TEST(ChecksTest, FindingsAreSummedUp) {
  const Finding good{"a", Status::kGood, "", ""};
  const Finding note{"b", Status::kNote, "", ""};
  const Finding problem{"c", Status::kProblem, "", ""};
  EXPECT_EQ(summary_text({good}), "All is good.");
  EXPECT_EQ(summary_text({good, note, note}), "No problem, 2 notes.");
  EXPECT_EQ(summary_text({problem, good}), "1 problem, no note.");
  EXPECT_EQ(worst({good, problem, note}), Status::kProblem);
  EXPECT_EQ(worst({good, note}), Status::kNote);
  EXPECT_EQ(worst({}), Status::kGood);
}

}  // namespace
}  // namespace trainer::doctor
