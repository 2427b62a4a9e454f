// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/inspect.h"

namespace trainer::apply {

/// What inspection_text() tells as one JSON object, with nothing shortened.
std::string inspection_json(const Inspection& inspection);

}  // namespace trainer::apply
