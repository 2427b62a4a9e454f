// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trainer::apply {

/// The text of src/apply/export_c.c: functions in sections, each after a line "/* section: NAME
/// */".
std::string_view export_c_functions();

}  // namespace trainer::apply
