// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/dataset.h"

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// Makes the weights of the rows, which are those of data.weight, 1 on average in each split; those
/// of the training split count each class as data.class_weights says. Throws Error(kUsage) for
/// class weights of a regression, and Error(kData) for a split in which every row has weight 0.
void weigh_rows(Datasets& datasets, const config::DataConfig& data);

}  // namespace trainer::data
