// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// From now on SIGINT and SIGTERM are requests to stop, which the training loop honours after the
/// step under way. A second SIGINT ends the process at once, with exit code 130.
void watch_for_stop();

/// The signal that asked to stop, or 0. Never waits: it may be called after every step.
int stop_request();

/// Forgets the request and gives the signals back their usual effect.
void unwatch_stop();

}  // namespace trainer
