// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/config.h"
#include "trainer/model/mlp.h"

namespace trainer::model {

/// Sets the initial parameters, a pure function of (scheme, seed, shapes): numbers are drawn on the
/// CPU, so that every device starts from the same ones. For a weight `[out, in]`:
///   pytorch  U(-1/sqrt(in), 1/sqrt(in)), the biases too (the default of nn.Linear)
///   kaiming  N(0, 2/in), the output layer N(0, 1/in); He and others, arXiv:1502.01852
///   xavier   U(-b, b) with b = sqrt(6/(in + out)); Glorot and Bengio, AISTATS 2010
///   gpt2     N(0, 0.02^2), in R residual layers N(0, 0.02^2/R); Radford and others, 2019
/// Other biases are 0, weights of norms 1. Embeddings are N(0, 0.1^2), with gpt2 N(0, 0.02^2);
/// their last row, of what is missing or unknown, is 0: only rows with missing cells train it.
void initialize(Mlp& model, config::Init scheme, uint64_t seed);

}  // namespace trainer::model
