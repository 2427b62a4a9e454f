// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "trainer/base/function_ref.h"
#include "trainer/config/config.h"
#include "trainer/table/dataset.h"
#include "trainer/train/session.h"

// Trials before a run, of its own steps: whether a device computes what the CPU does, which device,
// precision and number of threads is fast, what the exchange between processes costs, and how long
// an epoch takes. They have the network, loss, optimizer and first rows of the run, and the same
// weights everywhere. So every kind of layer that the run uses is tried with its real shape, for
// the installed versions of LibTorch and of the system.

namespace trainer::train {

/// Runs a small step in fp32 on `device` and on the CPU. Returns a message if it fails on the
/// device, or if loss, gradient or weights differ from those on the CPU; empty if all is well, or
/// if memory runs out.
std::string find_device_problem(const config::Config& config, const data::Datasets& data,
                                c10::Device device);

/// The measured speed and accuracy of steps on one device in one precision.
struct DeviceTrial {
  c10::Device device = c10::Device(c10::kCPU);
  config::Precision precision = config::Precision::kFp32;
  /// Median over several measurements; with the faster number of threads on the CPU.
  double step_seconds = 0;
  double loss_difference = 0;  // of the loss after 10 steps, relative to fp32 on the CPU
  std::string problem = {};    // why this combination must not be used; empty: no problem
};

/// Times steps of whole batches on the devices and in the precisions of `trials`, and fills in
/// their other members. Changes the number of threads of LibTorch.
void time_devices(const config::Config& config, const data::Datasets& data,
                  std::vector<DeviceTrial>& trials);

/// Returns the first trial without a problem whose steps take at most 5 % longer than the fastest.
/// Null if all trials have a problem.
const DeviceTrial* find_fastest(const std::vector<DeviceTrial>& trials);

/// The durations of the parts of a step of several processes, in seconds.
struct ExchangeTrial {
  double compute = 0;   // to compute the gradient of the rows of a process
  double exchange = 0;  // to add the gradients of all processes, without computing meanwhile
};

/// Times a few steps without changing the session. All processes of the run call it together, and
/// get the numbers that the first process measured.
ExchangeTrial try_exchange(Session& session);

/// The measured duration of a step with this number of threads.
struct ThreadTrial {
  int64_t num_threads = 1;
  double step_seconds = 0;
};

/// Times `step` with 1, 2, 4, ... and `max_threads` threads until more threads are slower. Takes a
/// fraction of a second. A step that takes longer than 50 ms with all threads is timed with these
/// only.
std::vector<ThreadTrial> try_threads(int64_t max_threads,
                                     FunctionRef<void(int64_t num_threads)> set_threads,
                                     FunctionRef<void()> step);

/// Measures close trials once more and keeps the shorter times, because other work may have delayed
/// all steps with one number of threads, and a wrong choice lasts for seconds.
void repeat_close_trials(std::vector<ThreadTrial>& trials,
                         FunctionRef<double(int64_t num_threads)> step_seconds);

/// Times the next step of the session. Changes only the number of threads.
std::vector<ThreadTrial> try_threads(Session& session, int64_t max_threads);

/// Returns the smallest number of threads whose step takes at most 10 % longer than the fastest.
/// `trials` must not be empty.
int64_t min_fast_threads(const std::vector<ThreadTrial>& trials);

/// Returns whether another number of threads was at most 20 % slower than the fastest.
bool are_close(const std::vector<ThreadTrial>& trials);

/// Estimates the seconds of an epoch: its steps, of which some are timed, the evaluation, and the
/// checkpoint. Does not change the state of the session.
double estimate_epoch_seconds(Session& session);

/// Sets the number of epochs of a run that has not begun, and adapts its schedule.
void set_epochs(Session& session, int64_t epochs);

}  // namespace trainer::train
