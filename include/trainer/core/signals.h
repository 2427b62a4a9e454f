// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// What a signal does to reading from a terminal or a pipe, which may wait for long: it goes on by
/// itself or ends with an error.
enum class OnSignal { kRestart, kInterrupt };

/// From now on SIGINT, SIGTERM and SIGHUP are requests to stop, and SIGUSR1 is one to save, which
/// the training loop honours after the step under way. A second SIGINT ends the process at once,
/// with exit code 130. A signal that the process was started to ignore stays ignored.
void watch_signals(OnSignal on_signal = OnSignal::kRestart);

/// From now on SIGUSR1 does not end the process, unless it was ignored: a scheduler may send it
/// before the training loop is there. Called first of all.
void accept_save_requests();

/// The signal that asked to stop, or 0. Never waits: it may be called after every step.
int stop_request();

/// "SIGTERM" and the like, of those that ask to stop.
const char* signal_name(int signal);

/// Whether SIGUSR1 has come since the last call. Never waits.
bool take_save_request();

/// Forgets the requests and gives the signals back their usual effect.
void unwatch_signals();

}  // namespace trainer
