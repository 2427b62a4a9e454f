// SPDX-License-Identifier: Apache-2.0
// The format: "Trace Event Format", Google, 2016. Complete events ("ph": "X") have a begin and a
// duration in microseconds; metadata events ("ph": "M") name the rows.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/diagnose/profile/profile.h"

#include "diagnose/profile/layer_names.h"

namespace trainer::profile {
namespace {

std::string span_name(const TimeSpan& span, const std::vector<std::string>& names) {
  if (span.layer == 0) return std::string(span.name);
  return fmt::format("{} {}", span.name, names.at(static_cast<std::size_t>(span.layer - 1)));
}

}  // namespace

std::string chrome_trace(const Timeline& timeline, const network::NetworkSpec& network) {
  const std::vector<std::string> names = layer_names(network);
  const std::vector<TimeSpan> spans = timeline.spans();
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  int32_t last_thread = 0;
  for (const TimeSpan& span : spans) {
    last_thread = std::max(last_thread, span.thread);
    text += fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f}}},)"
                        "\n",
                        span.thread, Json(span_name(span, names)).dump(),
                        1e-3 * static_cast<double>(span.begin),
                        1e-3 * static_cast<double>(span.end - span.begin));
  }
  for (int32_t thread = 0; thread <= last_thread; ++thread) {
    text += fmt::format(
        R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"thread {0}"}}}},)"
        "\n",
        thread);
  }
  text += R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"trainer"}})";
  return text + "\n]}\n";
}

}  // namespace trainer::profile
