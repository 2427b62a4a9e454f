// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Opens /dev/null in place of standard input, output or error if they are closed. Call it before
/// any file is opened: otherwise the file would get their descriptor and receive the output.
void open_standard_streams();

}  // namespace trainer
