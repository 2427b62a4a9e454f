// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/profile/profile.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/time/timeline.h"
#include "trainer/nn/spec/mlp.h"

namespace trainer::profile {
namespace {

network::NetworkSpec small_network(int64_t num_members = 1) {
  return network::mlp({.num_features = 4,
                       .num_outputs = 2,
                       .hidden_sizes = {3},
                       .input_scale = num_members > 1,
                       .num_members = num_members});
}

constexpr int64_t kNumParameters = 3 * 4 + 3 + 2 * 3 + 2;

void work(Work kind, std::size_t layer = 0) { const TimedWork timed(kind, layer); }

TEST(WorkloadTest, AProductTakesTwoOperationsForEachWeight) {
  const network::NetworkSpec network = small_network();
  EXPECT_EQ(flops_per_row(network, Work::kForward, 0), 2 * 4 * 3);
  EXPECT_EQ(flops_per_row(network, Work::kForward, 1), 2 * 3 * 2);
  EXPECT_EQ(flops_per_row(network, Work::kForward, 2), std::nullopt);
  EXPECT_EQ(flops_per_row(network, Work::kWeightGradient, 0), 2 * 4 * 3);
  EXPECT_EQ(flops_per_row(network, Work::kInputGradient, 0), std::nullopt);
  EXPECT_EQ(flops_per_row(network, Work::kInputGradient, 1), 2 * 3 * 2);
  EXPECT_EQ(flops_per_row(network, Work::kBackward, 0), 2 * 4 * 3);
  EXPECT_EQ(flops_per_row(network, Work::kBackward, 1), 2 * 2 * 3 * 2);
  EXPECT_EQ(flops_per_row(network, Work::kLoss, 0), std::nullopt);
}

TEST(WorkloadTest, MembersMultiplyTheirRows) {
  const network::NetworkSpec network = small_network(/*num_members=*/8);
  EXPECT_EQ(flops_per_row(network, Work::kForward, 0), 8 * 2 * 4 * 3);
  // For the scale of the inputs.
  EXPECT_EQ(flops_per_row(network, Work::kInputGradient, 0), 8 * 2 * 4 * 3);
}

TEST(WorkloadTest, AnUpdateReadsTheGradientAndChangesAllElse) {
  Workload workload{.network = small_network(), .rows = 30, .steps = 3, .num_moments = 2};
  EXPECT_EQ(bytes_moved(workload, Work::kUpdate), 3.0 * kNumParameters * 4 * (1 + 2 * 3));
  EXPECT_EQ(bytes_moved(workload, Work::kGradientNorm), 3.0 * kNumParameters * 4);
  EXPECT_EQ(bytes_moved(workload, Work::kGather), 30.0 * 4 * (4 + 4));
  workload.bytes_per_feature = 1;
  EXPECT_EQ(bytes_moved(workload, Work::kGather), 30.0 * 4 * (1 + 4));
  EXPECT_EQ(bytes_moved(workload, Work::kForward), std::nullopt);
}

TEST(ProfileTest, WorkAndWaitingMakeUpTheSteps) {
  const Timeline timeline;
  for (int i = 0; i < 3; ++i) {
    const TimedStage step(Stage::kStep);
    work(Work::kGather);
    work(Work::kForward, 1);
    work(Work::kForward, 2);
    work(Work::kInputGradient, 2);
  }
  const Profile profile =
      make_profile(timeline, {.network = small_network(), .rows = 30}, cpu::Peak{});
  EXPECT_EQ(profile.workload.steps, 3);
  std::vector<std::string> lines;
  double total = profile.waiting_seconds;
  for (const WorkTime& time : profile.work) {
    lines.push_back(time.name + " " + time.layer);
    if (time.layer.empty()) total += time.seconds;
  }
  EXPECT_EQ(lines,
            (std::vector<std::string>{"gather ", "forward ", "forward layers.0", "forward layers.1",
                                      "input gradient ", "input gradient layers.1"}));
  EXPECT_NEAR(total, profile.step_seconds, 1e-9);
  double stages = 0;
  for (const StageTime& stage : profile.stages) stages += stage.seconds;
  EXPECT_NEAR(stages, profile.seconds, 1e-9);
}

TEST(ProfileTest, RatesAreArithmeticOverTime) {
  const Timeline timeline;
  {
    const TimedStage step(Stage::kStep);
    work(Work::kForward, 1);
    work(Work::kForward, 2);
  }
  const Profile profile =
      make_profile(timeline, {.network = small_network(), .num_threads = 2, .rows = 10}, {});
  ASSERT_EQ(profile.work.size(), 3U);
  const double seconds = timeline.sum(Stage::kStep, Work::kForward, 1).seconds() / 2;
  EXPECT_DOUBLE_EQ(profile.work[1].seconds, seconds);
  EXPECT_DOUBLE_EQ(*profile.work[1].flops_per_second, 10 * 24 / seconds);
  EXPECT_DOUBLE_EQ(*profile.work[0].flops_per_second, 10 * (24 + 12) / profile.work[0].seconds);
}

Profile known_profile() {
  Profile profile;
  profile.workload = {.network = small_network(),
                      .device = "cpu",
                      .precision = "fp32",
                      .uses_kernels = true,
                      .num_threads = 2,
                      .batch_size = 32,
                      .rows = 3200,
                      .steps = 100,
                      .memory = {.parameters = 100,
                                 .gradients = 100,
                                 .moments = 200,
                                 .activations = 5000,
                                 .data = 1 << 20,
                                 .process_peak = 100 << 20}};
  profile.peak = cpu::Peak{.flops_per_second = 2e11, .bytes_per_second = 2e10};
  profile.seconds = 2;
  profile.stages = {{"read", 0.5, 1}, {"steps", 1, 100}, {"other", 0.5, 0}};
  profile.step_seconds = 1;
  profile.work = {
      {.name = "gather", .seconds = 0.1, .bytes_per_second = 5e9},
      {.name = "forward", .seconds = 0.6, .flops_per_second = 1e11},
      {.name = "forward", .layer = "layers.0", .seconds = 0.4, .flops_per_second = 1.5e11}};
  profile.waiting_seconds = 0.3;
  profile.checkpoint_seconds = 0.25;
  return profile;
}

TEST(ProfileDocumentTest, ShowsStagesWorkAndMemory) {
  EXPECT_EQ(profile_document(known_profile()).text(),
            "model       4-3-2 relu; 23 parameters\n"
            "device      cpu, fp32, fused step, 2 threads\n"
            "peak        200 GFLOP/s and 20.0 GB/s with 2 threads, measured now\n"
            "steps       100 of 32 rows, 3,200 rows/s\n"
            "\n"
            "stage    time   share  times\n"
            "read   500 ms  25.0 %      1\n"
            "steps  1.00 s  50.0 %    100\n"
            "other  500 ms  25.0 %\n"
            "all    2.00 s\n"
            "Checkpoints were written in 250 ms, beside training.\n"
            "\n"
            "a step             time   share  GFLOP/s  of peak  GB/s  of memory\n"
            "gather          1.00 ms  10.0 %                     5.0       25 %\n"
            "forward         6.00 ms  60.0 %    100.0     50 %\n"
            "  layers.0      4.00 ms  40.0 %    150.0     75 %\n"
            "waiting, other  3.00 ms  30.0 %\n"
            "all             10.0 ms\n"
            "\n"
            "memory                     size\n"
            "parameters                100 B\n"
            "gradients                 100 B\n"
            "moments                   200 B\n"
            "activations             4.9 KiB\n"
            "data                    1.0 MiB\n"
            "process, at its peak  100.0 MiB\n");
}

TEST(ProfileDocumentTest, SaysNothingOfStepsThatWereNotMade) {
  Profile profile = known_profile();
  profile.workload.steps = 0;
  profile.peak = std::nullopt;
  const std::string text = profile_document(profile).text();
  EXPECT_EQ(text.find("a step"), std::string::npos);
  EXPECT_EQ(text.find("peak  "), text.find("peak  100.0 MiB"));
}

TEST(ProfileDocumentTest, ProgramsGetTheNumbersOfTheText) {
  const Json json = profile_document(known_profile()).json();
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["steps"], 100);
  EXPECT_EQ(json["peak"]["gflops_per_second"], 200.0);
  EXPECT_EQ(json["stages"][0], (Json{{"stage", "read"}, {"seconds", 0.5}, {"count", 1}}));
  EXPECT_EQ(json["work"][0], (Json{{"work", "gather"},
                                   {"seconds", 0.1},
                                   {"share", 0.1},
                                   {"gbytes_per_second", 5.0},
                                   {"of_memory", 0.25}}));
  EXPECT_EQ(json["work"][2]["layer"], "layers.0");
  EXPECT_EQ(json["work"][2]["of_peak"], 0.75);
  EXPECT_EQ(json["memory_bytes"]["activations"], 5000);
  EXPECT_TRUE(json["memory_bytes"]["device_peak"].is_null());
}

TEST(ChromeTraceTest, HasASpanForEachScopeAndANameForEachThread) {
  const Timeline timeline(/*max_spans=*/100);
  {
    const TimedStage step(Stage::kStep);
    work(Work::kForward, 2);
  }
  const Json trace = parse_json(chrome_trace(timeline, small_network()));
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0]["name"], "forward layers.1");
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[1]["name"], "steps");
  EXPECT_LE(events[1]["ts"].get<double>(), events[0]["ts"].get<double>());
  EXPECT_GE(events[1]["dur"].get<double>(), events[0]["dur"].get<double>());
  EXPECT_EQ(events[2]["args"]["name"], "thread 0");
  EXPECT_EQ(events[3]["args"]["name"], "trainer");
}

}  // namespace
}  // namespace trainer::profile
