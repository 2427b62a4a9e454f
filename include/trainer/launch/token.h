// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trainer/launch/place.h"

namespace trainer::launch {

constexpr std::size_t kMaxTokenBytes = 256;

/// Returns a random token of 32 hexadecimal digits that nobody can guess.
std::string random_token();

/// Returns the token that the user has given to all processes of a run in TRAINER_RENDEZVOUS_TOKEN,
/// or an empty text. Throws Error(kDevice) if it is longer than kMaxTokenBytes.
std::string token_of_user(const Environment& environment);

/// Returns whether the tokens are equal. The time that this takes does not reveal where they
/// differ.
bool is_same_token(std::string_view a, std::string_view b);

}  // namespace trainer::launch
