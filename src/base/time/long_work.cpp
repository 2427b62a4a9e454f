// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/time/long_work.h"

#include <utility>

namespace trainer {
namespace {

LongWorkListener& current_listener() {
  static LongWorkListener listener;
  return listener;
}

}  // namespace

void listen_to_long_work(LongWorkListener listener) { current_listener() = std::move(listener); }

void report_long_work(std::string_view name, double part) {
  if (const LongWorkListener& listener = current_listener()) listener(name, part);
}

}  // namespace trainer
