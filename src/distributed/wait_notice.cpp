// SPDX-License-Identifier: Apache-2.0
#include "distributed/wait_notice.h"

#include <chrono>
#include <utility>

#include "trainer/base/io/log.h"

namespace trainer::dist {

WaitNotice::WaitNotice(std::string text)
    : thread_([this, said = std::move(text)] {
        constexpr std::chrono::seconds kSilence{5};
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, kSilence, [this] { return is_over_; })) log::info(said);
      }) {}

WaitNotice::~WaitNotice() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace trainer::dist
