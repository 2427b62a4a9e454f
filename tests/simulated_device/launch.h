// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace c10 {
class OperatorHandle;
}  // namespace c10

namespace trainer::test::simulated {

/// What becomes of an operator that does not fail.
enum class Outcome { kRight, kNan };

/// Counts the operator, and throws if the device lacks it, is lost or fails in it.
Outcome launch(const c10::OperatorHandle& op);

enum class Copy { kToDevice, kToHost, kWithin };

/// The same for a copy.
void launch_copy(Copy copy);

}  // namespace trainer::test::simulated
