// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The wheel trainer-cli-engine of Python, which adds to the program of the wheel trainer-cli one
/// that trains, with the LibTorch of the wheel torch. Its files are in
/// site-packages/trainer_engine/VERSION, beside a file `version`.

namespace trainer::cli {

/// Becomes the program that the wheel of this version brought, if this one has no engine and such a
/// wheel is in its environment of Python; returns otherwise. `argv` ends with nullptr.
void become_engine_program(char** argv);

/// Returns why this program cannot train although a wheel is there, and what to do, or an empty
/// text: the wheel is of another version, or torch beside it is.
std::string engine_wheel_problem();

}  // namespace trainer::cli
