// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// What a signal does to a blocking read from a terminal or a pipe: the read restarts, or fails
/// with EINTR.
enum class OnSignal { kRestart, kInterrupt };

/// From now on SIGINT, SIGTERM and SIGHUP are requests to stop, and SIGUSR1 is one to save, which
/// the training loop handles after the current step. A second SIGINT ends the process immediately,
/// with exit code 130. A signal that the process was started to ignore stays ignored.
void watch_signals(OnSignal on_signal = OnSignal::kRestart);

/// From now on SIGUSR1 does not end the process: a scheduler may send it before the training loop
/// runs. Call it first in main().
void accept_save_requests();

/// The signal that asked to stop, or 0. Never waits: it may be called after every step.
int stop_request();

/// "SIGTERM" for a signal that stop_request() returns.
const char* signal_name(int signal);

/// Whether SIGUSR1 has come since the last call. Never waits.
bool take_save_request();

/// Discards the requests and restores the previous signal handlers.
void unwatch_signals();

}  // namespace trainer
