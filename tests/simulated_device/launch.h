// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace c10 {
class OperatorHandle;
}  // namespace c10

namespace trainer::test::simulated {

/// What becomes of an operator that does not fail.
enum class Outcome { kRight, kNan };

struct Launched {
  Outcome outcome = Outcome::kRight;
  bool is_work = true;  // not only a view, or memory
};

/// Counts the operator, and throws if the device lacks it, is lost or fails in it, or if it may not
/// be recorded.
Launched launch(const c10::OperatorHandle& op);

/// The same for a graph: one launch.
void launch_graph();

enum class Copy { kToDevice, kToHost, kWithin };

/// The same for a copy.
void launch_copy(Copy copy);

}  // namespace trainer::test::simulated
