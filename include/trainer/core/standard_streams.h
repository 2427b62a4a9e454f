// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Opens those of standard input, output and error that are closed on /dev/null. To be called
/// before anything else is opened: a file would get their number, and what is printed with it.
void open_standard_streams();

}  // namespace trainer
