// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::report {

enum class PageKind { kReport, kModel };

/// Returns the page with a title and the JSON data that its script draws. Both are escaped, so they
/// may contain anything. The parts of the pages are in src/report/html/page, put together at build
/// time (page.cpp.in).
std::string page_html(PageKind kind, const std::string& title, const std::string& json);

}  // namespace trainer::report
