// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/place.h"

#include <stdlib.h>

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"

namespace trainer::launch {
namespace {

using Variables = std::map<std::string, std::string>;

Place place_in(const Variables& variables) {
  return find_place([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

std::string problem_in(const Variables& variables) {
  return test::message_of(ErrorKind::kDevice, [&] { place_in(variables); });
}

constexpr const char* kWayOut =
    "; correct the variables of the launcher, or set distributed.enabled=off to run by itself";

// Variables as the launchers were seen to set them.
const Variables kTorchrun = {{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "2"},
                             {"TORCHELASTIC_RUN_ID", "none"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "2"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables kSrun = {{"SLURM_PROCID", "6"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_NODEID", "3"},
                         {"SLURM_NTASKS", "7"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_STEP_NUM_TASKS", "7"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

TEST(PlaceTest, WithoutALauncherAProcessIsAlone) { EXPECT_EQ(place_in({}), Place{}); }

TEST(PlaceTest, EachLauncherIsFound) {
  EXPECT_EQ(place_in(kTorchrun), (Place{Launcher::kTorchrun, 3, 4, 1, 2}));
  EXPECT_EQ(place_in(kOpenMpi), (Place{Launcher::kOpenMpi, 1, 2, 1, 2}));
  EXPECT_EQ(place_in(kSrun), (Place{Launcher::kSlurm, 6, 7, 0, 1}));
  EXPECT_EQ(place_in({{"PMI_RANK", "1"},
                      {"PMI_SIZE", "3"},
                      {"MPI_LOCALRANKID", "1"},
                      {"MPI_LOCALNRANKS", "3"}}),
            (Place{Launcher::kMpich, 1, 3, 1, 3}));
  // Kubernetes has one process per pod, and no word for that.
  EXPECT_EQ(place_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}}),
            (Place{Launcher::kVariables, 1, 2, 0, 1}));
}

TEST(PlaceTest, ABatchScriptOfSlurmIsOneProcess) {
  EXPECT_EQ(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}}),
            Place{});
}

TEST(PlaceTest, SrunWithPmiIsSrun) {
  const Variables pmi = {{"PMI_RANK", "6"}, {"PMI_SIZE", "7"}, {"SLURM_MPI_TYPE", "pmi2"}};
  EXPECT_EQ(place_in(with(kSrun, pmi)), place_in(kSrun));
}

TEST(PlaceTest, TheLauncherInsideOfAnotherCounts) {
  EXPECT_EQ(place_in(with(kSrun, kTorchrun)), place_in(kTorchrun));
  EXPECT_EQ(place_in(with(kOpenMpi, kTorchrun)), place_in(kTorchrun));
  EXPECT_EQ(place_in(with(kSrun, kOpenMpi)), place_in(kOpenMpi));
}

TEST(PlaceTest, RestartsAreThoseOfTorchrunOrSlurm) {
  const Variables restarts = {{"TORCHELASTIC_RESTART_COUNT", "2"}, {"SLURM_RESTART_COUNT", "3"}};
  EXPECT_EQ(place_in(with(kTorchrun, restarts)), (Place{Launcher::kTorchrun, 3, 4, 1, 2, 2}));
  EXPECT_EQ(place_in(with(kSrun, restarts)), (Place{Launcher::kSlurm, 6, 7, 0, 1, 3}));
  EXPECT_EQ(place_in(with(kOpenMpi, restarts)).restarts, 0);
  EXPECT_EQ(
      problem_in(with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", "-1"}})),
      std::string("TORCHELASTIC_RESTART_COUNT: expected an integer >= 0, got \"-1\"") + kWayOut);
}

TEST(PlaceTest, VariablesSetByHandMaySayTheSame) {
  const Variables same = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
  EXPECT_EQ(place_in(with(kOpenMpi, same)).size, 2);
  EXPECT_EQ(problem_in(with(kOpenMpi, {{"RANK", "0"}, {"WORLD_SIZE", "1"}})),
            std::string("RANK and WORLD_SIZE say process 0 of 1, but mpirun (Open MPI) says 1 of "
                        "2") +
                kWayOut);
}

TEST(PlaceTest, WhatIsIncompleteOrImpossibleIsNamed) {
  EXPECT_EQ(problem_in({{"WORLD_SIZE", "2"}}),
            std::string("WORLD_SIZE is set, but RANK is not") + kWayOut);
  EXPECT_EQ(problem_in(without(kOpenMpi, "OMPI_COMM_WORLD_SIZE")),
            std::string("OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not") + kWayOut);
  EXPECT_EQ(problem_in(with(kTorchrun, {{"RANK", "four"}})),
            std::string("RANK: expected an integer >= 0, got \"four\"") + kWayOut);
  EXPECT_EQ(problem_in(with(kTorchrun, {{"WORLD_SIZE", "0"}})),
            std::string("WORLD_SIZE: expected an integer >= 1, got \"0\"") + kWayOut);
  EXPECT_EQ(problem_in(with(kTorchrun, {{"RANK", "4"}})),
            std::string("RANK is 4: expected less than WORLD_SIZE, which is 4") + kWayOut);
  EXPECT_EQ(
      problem_in(with(kTorchrun, {{"LOCAL_RANK", "2"}})),
      std::string("LOCAL_RANK is 2: expected less than LOCAL_WORLD_SIZE, which is 2") + kWayOut);
  EXPECT_EQ(
      problem_in({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "9223372036854775807"}}),
      std::string("LOCAL_RANK is 9223372036854775807: expected less than WORLD_SIZE, which is 4") +
          kWayOut);
  for (const char* text : {"", "2(x3)", "2(x3,1", "two", "2(x3),0"}) {
    EXPECT_EQ(problem_in(with(kSrun, {{"SLURM_STEP_TASKS_PER_NODE", text}})),
              std::string("SLURM_STEP_TASKS_PER_NODE: expected the tasks of each node, such as "
                          "2(x3),1, with more than 0 on node 3, got \"") +
                  text + "\"" + kWayOut);
  }
}

TEST(PlaceTest, TheEnvironmentIsThatOfThisProcess) {
  ASSERT_EQ(setenv("TRAINER_TEST_PLACE", "7", 1), 0);
  EXPECT_EQ(process_environment("TRAINER_TEST_PLACE"), "7");
  ASSERT_EQ(unsetenv("TRAINER_TEST_PLACE"), 0);
  EXPECT_EQ(process_environment("TRAINER_TEST_PLACE"), std::nullopt);
}

}  // namespace
}  // namespace trainer::launch
