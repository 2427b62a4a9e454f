// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// The effect of a signal on a blocking read from a terminal or a pipe: the read restarts, or it
/// fails with EINTR.
enum class OnSignal { kRestart, kInterrupt };

/// From now on SIGINT, SIGTERM and SIGHUP request a stop, and SIGUSR1 requests a checkpoint; the
/// training loop handles the requests after the current step. A second SIGINT ends the process
/// immediately with exit code 130. A signal that was ignored when the process started stays
/// ignored. Calls may be nested: only the outermost pair with unwatch_signals() changes handlers
/// and requests.
void watch_signals(OnSignal on_signal = OnSignal::kRestart);

/// From now on SIGUSR1 does not end the process: a scheduler may send it before the training loop
/// runs. Call it first in main().
void accept_save_requests();

/// The signal that requested a stop, or 0. Never blocks, so it may be called after every step.
int stop_request();

/// The name of a signal that stop_request() returns, such as "SIGTERM".
const char* signal_name(int signal);

/// Whether SIGUSR1 has arrived since the last call. Never blocks.
bool take_save_request();

/// Discards the requests and restores the previous signal handlers.
void unwatch_signals();

}  // namespace trainer
