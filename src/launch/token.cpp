// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/token.h"

#include <random>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

namespace trainer::launch {

std::string random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::string token_of_user(const Environment& environment) {
  constexpr const char* kName = "TRAINER_RENDEZVOUS_TOKEN";
  std::string token = environment(kName).value_or("");
  if (token.size() <= kMaxTokenBytes) return token;
  throw Error(ErrorKind::kDevice, fmt::format("{}: expected at most {}, got {}", kName,
                                              counted(kMaxTokenBytes, "byte"), token.size()));
}

bool is_same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace trainer::launch
