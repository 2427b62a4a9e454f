// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace trainer {

/// Receives the name of an operation that may take long, such as "reading the table", and the
/// fraction of it that is done: 0 where that is not known, 1 at the end.
using LongWorkListener = std::function<void(std::string_view name, double part)>;

/// Sets the function that report_long_work() calls, on the thread that does the work. An empty
/// function, the initial state, turns reports off.
void listen_to_long_work(LongWorkListener listener);

/// Calls the listener, if there is one. Cheap, but not meant for every row.
void report_long_work(std::string_view name, double part);

/// Reports at the end of its scope that the work is done (part 1), even if an exception ends it.
/// `name` must outlive the object; if it is empty, nothing is reported.
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
