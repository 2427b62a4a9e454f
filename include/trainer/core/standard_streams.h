// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Opens /dev/null for those of standard input, output and error that are closed. Call it before
/// anything else is opened: a file would get their descriptor, and what is printed to it.
void open_standard_streams();

}  // namespace trainer
