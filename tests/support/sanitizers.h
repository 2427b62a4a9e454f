// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::test {

/// AddressSanitizer reserves terabytes of addresses, keeps freed memory, and ends a process that
/// asks for too much.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

}  // namespace trainer::test
