// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace trainer {

/// What is done, such as "reading the table", and what part of it is done already: 0 where that is
/// not known, 1 at the end.
using LongWorkListener = std::function<void(std::string_view name, double part)>;

/// `listener` is told of work that may take long, on the thread that does it. Empty: nobody, as at
/// the beginning.
void listen_to_long_work(LongWorkListener listener);

/// Tells the listener, if there is one. Quick, but not for every row.
void report_long_work(std::string_view name, double part);

/// Tells the listener at its end that the work is over, however it ended. `name` outlives it; if it
/// is empty, nothing is told.
class LongWork {
 public:
  explicit LongWork(std::string_view name) : name_(name) {}
  ~LongWork() {
    if (!name_.empty()) report_long_work(name_, 1);
  }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 private:
  std::string_view name_;
};

}  // namespace trainer
