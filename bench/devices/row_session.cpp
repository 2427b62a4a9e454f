// SPDX-License-Identifier: Apache-2.0
#include "devices/row_session.h"

#include <c10/core/InferenceMode.h>

#include "trainer/base/time/stopwatch.h"
#include "trainer/table/cached/load.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::bench {
namespace {

train::ResidentData first_rows(const train::ResidentData& data, int64_t count) {
  train::ResidentData rows = data;
  rows.features = data.features.narrow(0, 0, count);
  rows.targets = data.targets.narrow(0, 0, count);
  if (data.weights.defined()) rows.weights = data.weights.narrow(0, 0, count);
  return rows;
}

// Waits until the device has finished all work. Devices have one queue, so copying a number back
// suffices.
void wait_for(const at::Tensor& tensor) {
  if (!tensor.is_cpu()) tensor.flatten().narrow(0, 0, 1).cpu();
}

}  // namespace

RowSession::RowSession(const RowPlan& plan, int64_t num_threads)
    : pass_(plan.setting.pass),
      session_(train::make_session(
          plan.config, cache::load(plan.config.data, static_cast<uint64_t>(plan.config.seed)),
          plan.device)),
      batch_(first_rows(session_->train, train::batch_size(*session_))) {
  train::use_threads(*session_, num_threads);
}

double RowSession::step() {
  const Stopwatch stopwatch;
  if (pass_ == Pass::kTraining) {
    train();
  } else {
    infer();
  }
  return 1e3 * stopwatch.seconds();
}

double RowSession::loss() {
  return pass_ == Pass::kTraining ? loss_ : session_->step->evaluate(batch_).loss;
}

void RowSession::train() {
  train::Session& session = *session_;
  const train::StepStats stats = train::run_step(session);
  loss_ = static_cast<double>(stats.loss_sum) / static_cast<double>(stats.num_samples);
  train::advance(session, stats);
  if (train::epoch_is_complete(session)) {
    train::finish_interval(session);
    train::finish_epoch(session);
  }
  wait_for(session.model.parameters().values);
}

void RowSession::infer() {
  if (train::uses_kernels(*session_)) {
    session_->step->evaluate(batch_);
    return;
  }
  const c10::InferenceMode no_autograd;
  const train::Batch batch = train::slice(batch_, 0, batch_.size());
  wait_for(session_->model.forward(batch.features, model::Mode::kInference));
}

}  // namespace trainer::bench
