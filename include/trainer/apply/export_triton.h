// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/export.h"

namespace trainer::apply {

/// The text of the file config.pbtxt with which NVIDIA Triton serves the exported ONNX file that
/// `report` describes, from the folder `name` of its model repository. Without a fixed number of
/// rows, Triton puts the rows of several requests together.
std::string triton_config(const std::string& name, const ExportReport& report);

}  // namespace trainer::apply
