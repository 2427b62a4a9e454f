// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/doctor/collect.h"

#include <stdlib.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace trainer::doctor {
namespace {

namespace fs = std::filesystem;

TEST(CollectTest, TheCpuIsKnown) {
  const CpuFacts cpu = cpu_facts();
  EXPECT_FALSE(cpu.model.empty());
  EXPECT_FALSE(cpu.kernels.empty());
  EXPECT_GE(cpu.num_usable, 1);
  EXPECT_LE(cpu.num_usable, cpu.num_logical);
  EXPECT_GE(cpu.load, 0);
}

TEST(CollectTest, TheSpeedIsMeasured) {
  const SpeedFacts speed = measure_speed();
  EXPECT_GT(speed.flops_of_one_thread, 0);
  EXPECT_GT(speed.peak.flops_per_second, 0);
  EXPECT_GT(speed.peak.bytes_per_second, 0);
}

TEST(CollectTest, MemoryIsKnown) {
  const MemoryFacts memory = memory_facts();
  EXPECT_GT(memory.machine, 0);
  EXPECT_LE(memory.total.value_or(memory.machine), memory.machine);
  EXPECT_LE(memory.swap_used, memory.swap);
}

TEST(CollectTest, OpenMpRuntimesAndBlasAreKnownByTheirNames) {
  const LoadedFacts facts = loaded_facts(
      {"", "/lib/libc.so.6", "/lib/libgomp.so.1.0.0", "/torch/libgomp-a34b3233.so.1",
       "/lib/libomp.dylib", "/lib/libiomp5.so", "/lib/libompi.so", "/cuda/libcublas.so.13",
       "/lib/libopenblasp-r0.3.21.so", "/lib/libblas.so.3", "/conda/libmkl_core.so.2"});
  EXPECT_EQ(facts.openmp,
            (std::vector<std::string>{"/lib/libgomp.so.1.0.0", "/torch/libgomp-a34b3233.so.1",
                                      "/lib/libomp.dylib", "/lib/libiomp5.so"}));
  EXPECT_EQ(facts.blas, (std::vector<std::string>{"/lib/libopenblasp-r0.3.21.so",
                                                  "/lib/libblas.so.3", "/conda/libmkl_core.so.2"}));
}

TEST(CollectTest, AFolderIsMeasuredAndLeftAsItWas) {
  const test::TemporaryFolder folder;
  const FolderFacts facts = measure_folder(folder.path());
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.existing, fs::canonical(folder.path()));
  EXPECT_GT(facts.free_bytes, 0U);
  EXPECT_GT(facts.bytes_per_second, 0);
  EXPECT_GT(facts.sync_seconds, 0);
  EXPECT_EQ(facts.lock_problem, "");
#ifdef __linux__
  EXPECT_FALSE(facts.file_system.empty());
#endif
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(CollectTest, AFolderThatIsNotThereIsMeasuredWhereItWouldBeMade) {
  const test::TemporaryFolder folder;
  const FolderFacts facts = measure_folder(folder.path() / "a" / "runs");
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.existing, fs::canonical(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(CollectTest, AFileInPlaceOfTheFolderIsAProblem) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("runs", "text");
  EXPECT_EQ(measure_folder(file).problem, file.string() + " is a file");
  EXPECT_EQ(measure_folder(file / "below").problem, file.string() + " is a file");
}

TEST(CollectTest, LibrariesSayWhatTheyAreFor) {
  for (const LibraryFacts& library : library_facts()) {
    EXPECT_FALSE(library.text.empty()) << library.name;
    EXPECT_FALSE(library.purpose.empty()) << library.name;
    EXPECT_EQ(library.advice.empty(), library.is_there) << library.name;
  }
}

TEST(CollectTest, VariablesThatMatterAreListed) {
  setenv("OPENBLAS_TESTED", "1", 1);
  setenv("SOME_PASSWORD", "secret", 1);
  const auto variables = environment_facts();
  unsetenv("OPENBLAS_TESTED");
  unsetenv("SOME_PASSWORD");
  const std::pair<std::string, std::string> tested{"OPENBLAS_TESTED", "1"};
  EXPECT_NE(std::find(variables.begin(), variables.end(), tested), variables.end());
  for (const auto& [name, value] : variables) EXPECT_NE(value, "secret") << name;
}

}  // namespace
}  // namespace trainer::doctor
