// SPDX-License-Identifier: Apache-2.0
#include "simulated_device/stray_access.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include <ATen/ThreadLocalState.h>

#include "simulated_device/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace trainer::test::simulated {
namespace {

thread_local sigjmp_buf* escape = nullptr;
struct sigaction previous {};

void on_fault(int signal, siginfo_t* info, void* context) {
  if (is_device_address(info->si_addr)) {
    if (escape != nullptr) siglongjmp(*escape, 1);
    std::array<char, 400> text{};
    const int size = std::snprintf(
        text.data(), text.size(),
        "simulated device: the CPU touches device memory at %p (made by %s) outside an operator; "
        "the last operator of this thread was %s\n",
        info->si_addr, maker_of(info->si_addr), thread_operator().name);
    if (write(STDERR_FILENO, text.data(), static_cast<std::size_t>(size)) < 0) _exit(1);
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    sigaction(SIGSEGV, &previous, nullptr);  // the access is repeated
  }
}

const bool kHasHandler = [] {
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return sigaction(SIGSEGV, &action, &previous) == 0;
}();

}  // namespace

bool touches_device_memory(const std::function<void()>& function) {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler no_leaks;  // the jump destroys nothing that the function has made
#endif
  const at::ThreadLocalState before;  // the jump does not undo LibTorch's guards
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) {
    escape = nullptr;
    thread_operator().depth = 0;
    at::ThreadLocalState::setThreadLocalState(before);
    return true;
  }
  escape = &here;
  function();
  escape = nullptr;
  return false;
}

}  // namespace trainer::test::simulated
