// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/launch/place.h"

#include "cli/agent.h"
#include "cli/engine_wheel.h"
#include "cli/libraries.h"
#include "cli/program.h"

namespace {

using trainer::Error;
using trainer::ErrorKind;

// With a smaller stack than this, the program would crash (SIGSEGV) instead of reporting an error.
void require_stack() {
  constexpr rlim_t kMinStack = rlim_t{512} << 10U;
  rlimit limit{};
  const bool is_known = getrlimit(RLIMIT_STACK, &limit) == 0;
  if (!is_known || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kMinStack) return;
  throw Error(ErrorKind::kOutOfMemory,
              fmt::format("the stack limit (ulimit -s) is {}; raise it to at least {}",
                          trainer::human_bytes(limit.rlim_cur), trainer::human_bytes(kMinStack)));
}

Error output_error(const std::error_code& why) {
  return {ErrorKind::kFileSystem,
          fmt::format("cannot write to standard output{}",
                      why ? ": " + std::generic_category().message(why.value()) : "")};
}

// Writing buffered output can still fail, so it happens before success is returned.
void flush_output() {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written) throw output_error({errno, std::generic_category()});
}

Error to_error(const std::exception& exception) {
  const auto* of_system = dynamic_cast<const std::system_error*>(&exception);
  if (of_system != nullptr && std::ferror(stdout) != 0) return output_error(of_system->code());
  return trainer::as_error(exception);
}

int run(int argc, char** argv) {
  require_stack();
  trainer::cli::become_engine_program(argv);
  const int code = trainer::cli::dispatch(argc, argv);
  if (code == 0) flush_output();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  trainer::open_standard_streams();
  trainer::accept_save_requests();
  // A write beyond `ulimit -f` fails with a message, as on a full disk, instead of ending the
  // process.
  signal(SIGXFSZ, SIG_IGN);
  trainer::cli::remember_agent(std::span(argv, static_cast<std::size_t>(argc)));
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    const Error error = to_error(e);
    trainer::log::clear_status();
    const int code = trainer::exit_code(error.kind());
    trainer::Json fields = {{"exit_code", code}};
    if (trainer::cli::is_for_agent()) {
      trainer::log::set_console_format(trainer::log::Format::kJson);
      fields["fixes"] = trainer::cli::proposed_fixes(
          error.what(), std::span(argv, static_cast<std::size_t>(argc)));
    }
    trainer::log::event("error", error.what(), fields, trainer::log::Level::kError);
    trainer::launch::report_failure(trainer::launch::process_environment, error.what());
    if (trainer::cli::is_loading_engine()) {
      std::fflush(nullptr);
      std::_Exit(code);
    }
    return code;
  }
}
