// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <exception>
#include <stdexcept>

namespace trainer::test {

/// Takes root's right to read and write everything away for the scope, so that tests of permissions
/// mean something for root too. Make temporary folders within the scope.
class Unprivileged {
 public:
  Unprivileged() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0 && seteuid(kNobody) != 0) throw std::runtime_error("cannot become nobody");
  }
  ~Unprivileged() {
    if (user_ == 0 && seteuid(user_) != 0) std::terminate();
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t user_;
};

}  // namespace trainer::test
