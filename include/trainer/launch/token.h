// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trainer/launch/place.h"

namespace trainer::launch {

constexpr std::size_t kMaxTokenBytes = 256;

/// 32 hexadecimal digits that nobody can guess.
std::string random_token();

/// The token that the user has given to all processes of a run: TRAINER_RENDEZVOUS_TOKEN, or empty.
/// Throws Error(kDevice) if it is longer than kMaxTokenBytes.
std::string token_of_user(const Environment& environment);

/// Whether both are the same. How long it takes does not tell where they differ.
bool is_same_token(std::string_view a, std::string_view b);

}  // namespace trainer::launch
