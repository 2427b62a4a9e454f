// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/base/error.h"
#include "trainer/config/load.h"

#include "support/error_of.h"

namespace trainer::config {

/// A configuration file "a.yaml" in a folder that does not exist.
inline Document document(const std::string& text) { return {"a.yaml", text, "/folder"}; }

/// How loading it is refused.
inline std::string message_of(const std::string& text) {
  return test::message_of(ErrorKind::kUsage, [&] { load({document(text)}, {}); });
}

}  // namespace trainer::config
