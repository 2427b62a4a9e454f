// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/launcher.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <csignal>
#include <ctime>
#include <exception>
#include <fstream>
#include <optional>

#include "trainer/base/text/json.h"

namespace trainer::launch {

void stop_with_launcher() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

// The file has no call stack, so the agent shows the message instead. The format is that of
// torch/distributed/elastic/multiprocessing/errors/error_handler.py.
void report_failure(const Environment& environment, const std::string& message) noexcept {
  try {
    const std::optional<std::string> path = environment("TORCHELASTIC_ERROR_FILE");
    if (!path || path->empty()) return;
    const Json content = {{"message",
                           {{"message", message},
                            {"extraInfo", {{"timestamp", std::to_string(std::time(nullptr))}}}}}};
    std::ofstream(*path) << content.dump();
  } catch (const std::exception&) {
    return;  // the message has already been logged
  }
}

}  // namespace trainer::launch
