// SPDX-License-Identifier: Apache-2.0
// SIMULATED_DEVICE and SIMULATED_DEVICE_COUNTERS, for programs that load the library.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "simulated_device/memory.h"
#include "simulated_device/state.h"

namespace trainer::test::simulated {
namespace {

[[noreturn]] void fail(const std::string& problem) {
  std::fprintf(stderr, "SIMULATED_DEVICE: %s\n", problem.c_str());
  std::_Exit(2);
}

// One operator a line, or several joined by '+'.
std::set<std::string> operators_in(const std::string& value) {
  std::set<std::string> names;
  if (value.starts_with("@")) {
    std::ifstream file(value.substr(1));
    if (!file) fail("cannot read " + value.substr(1));
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line.front() != '#') names.insert(line);
    }
    return names;
  }
  std::istringstream list(value);
  for (std::string name; std::getline(list, name, '+');) names.insert(name);
  return names;
}

void set(Behaviour& b, const std::string& key, const std::string& value) {
  const std::map<std::string, int64_t*> numbers = {{"max_bytes", &b.max_bytes},
                                                   {"max_buffer_bytes", &b.max_buffer_bytes},
                                                   {"fail_in", &b.fail_in},
                                                   {"lose_in", &b.lose_in},
                                                   {"oom_in", &b.oom_in},
                                                   {"nan_in", &b.nan_in},
                                                   {"operator_us", &b.operator_microseconds}};
  const std::map<std::string, bool*> flags = {{"fp64", &b.has_float64},
                                              {"bf16", &b.has_bfloat16},
                                              {"fp16", &b.has_float16},
                                              {"late", &b.fails_late}};
  if (key == "missing") {
    b.missing = operators_in(value);
    return;
  }
  char* end = nullptr;
  const int64_t number = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0') fail(key + ": expected a number, got \"" + value + "\"");
  if (const auto found = numbers.find(key); found != numbers.end()) {
    *found->second = number;
  } else if (const auto flag = flags.find(key); flag != flags.end()) {
    *flag->second = number != 0;
  } else {
    fail("unknown key \"" + key + "\"");
  }
}

void print_counters() {
  const Counters c = counters();
  std::fprintf(stderr,
               "simulated device: %" PRId64 " operators, %" PRId64 " views, %" PRId64
               " allocations, %" PRId64 " of new memory, peak %" PRId64 " bytes, %" PRId64
               " copies to it, %" PRId64 " from it, %" PRId64 " waits\n",
               c.operators, c.views, c.allocations, c.new_blocks, c.peak_bytes, c.to_device,
               c.to_host, c.waits);
  for (const auto& [name, count] : c.by_operator) {
    std::fprintf(stderr, "  %8" PRId64 " %s\n", count, name.c_str());
  }
}

}  // namespace

void read_environment(Behaviour& behaviour) {
  const char* given = std::getenv("SIMULATED_DEVICE");
  std::istringstream fields(given == nullptr ? "" : given);
  for (std::string field; std::getline(fields, field, ',');) {
    const std::size_t at = field.find('=');
    set(behaviour, field.substr(0, at), at == std::string::npos ? "" : field.substr(at + 1));
  }
  if (std::getenv("SIMULATED_DEVICE_COUNTERS") != nullptr) std::atexit(&print_counters);
}

State& state() {
  static State& one = []() -> State& {
    auto* made = new State;  // outlives all tensors
    made->behaviour.has_float64 = !kIsMps;
    read_environment(made->behaviour);
    return *made;
  }();
  return one;
}

}  // namespace trainer::test::simulated
