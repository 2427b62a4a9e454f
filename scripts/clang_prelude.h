// SPDX-License-Identifier: Apache-2.0
// Read first when Clang checks a file that includes LibTorch 1.13 (scripts/check_sources.py).
// That release's IValue holds a std::vector of itself while it is still incomplete. GCC accepts
// it; Clang does not where the members of std::vector are constexpr, as they are in C++20.
#pragma once

#include <torch/version.h>

#include <cstddef>  // names the standard library

#if TORCH_VERSION_MAJOR < 2 && defined(__GLIBCXX__)
#include <bits/predefined_ops.h>
#include <bits/stl_iterator.h>
#include <bits/stl_iterator_base_funcs.h>
#include <bits/stl_pair.h>

#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#include <bits/stl_algo.h>
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR constexpr

#include <memory>
#include <string>

#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#include <vector>
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR constexpr
#endif
