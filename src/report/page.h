// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::report {

/// The page with a title and the data that its script draws, both safe in HTML whatever they
/// contain. Its parts are in src/report/page, put together at build time (page.cpp.in).
std::string page_html(const std::string& title, const std::string& json);

}  // namespace trainer::report
