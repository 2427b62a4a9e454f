// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/session.h"

namespace trainer::train {

/// What takes how long in a step of several processes, in seconds.
struct ExchangeTrial {
  double compute = 0;   // the gradient of the rows of a process
  double exchange = 0;  // adding the gradients of all processes, with nothing to do beside it
};

/// Times a few steps, without a change of the session. All processes of the run call it together,
/// and get the numbers of the first one.
ExchangeTrial try_exchange(Session& session);

}  // namespace trainer::train
