// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::report {

/// Returns the page with a title and the JSON data that its script draws. Both are escaped, so they
/// may contain anything. The parts of the page are in src/report/html/page, put together at build
/// time (page.cpp.in).
std::string page_html(const std::string& title, const std::string& json);

}  // namespace trainer::report
