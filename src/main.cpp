// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <exception>

#include "trainer/core/error.h"
#include "trainer/core/log.h"

#include "cli/run.h"

int main(int argc, char** argv) {
  // A file that would outgrow `ulimit -f` is a write that fails, with a message, as on a full disk.
  signal(SIGXFSZ, SIG_IGN);
  try {
    return trainer::cli::run(argc, argv);
  } catch (const trainer::Error& e) {
    trainer::log::clear_status();
    trainer::log::error(e.what());
    return trainer::exit_code(e.kind());
  } catch (const std::exception& e) {
    trainer::log::clear_status();
    trainer::log::error(e.what());
    return trainer::exit_code(trainer::ErrorKind::kRuntime);
  }
}
