// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/session.h"

namespace trainer::train {

/// The durations of the parts of a step of several processes, in seconds.
struct ExchangeTrial {
  double compute = 0;   // to compute the gradient of the rows of a process
  double exchange = 0;  // to add the gradients of all processes, without computing meanwhile
};

/// Times a few steps without changing the session. All processes of the run call it together, and
/// get the numbers that the first process measured.
ExchangeTrial try_exchange(Session& session);

}  // namespace trainer::train
