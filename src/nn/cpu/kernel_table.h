// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/kernels.h"

#include "nn/cpu/activation.h"
#include "nn/cpu/batch_norm.h"
#include "nn/cpu/columns.h"
#include "nn/cpu/gather.h"
#include "nn/cpu/layer_norm.h"
#include "nn/cpu/loss.h"
#include "nn/cpu/multiply.h"
#include "nn/cpu/noise.h"
#include "nn/cpu/periodic.h"
#include "nn/cpu/piecewise.h"
#include "nn/cpu/update.h"

namespace trainer::cpu::TRAINER_ISA {

/// Returns a table of the functions that are compiled for the instruction set of the including
/// file.
constexpr Kernels make_kernels(InstructionSet set, const char* name) {
  Kernels k;
  k.instruction_set = set;
  k.name = name;
  k.panel_columns = kPanelColumns;
  k.tile_rows = kTileRows;
  k.panel_depth = kDepthBlock;
  k.scratch_floats = kScratchFloats;
  k.multiply = multiply;
  k.multiply_bf16 = multiply_bf16;
  k.gather = gather;
  k.make_noise = make_noise;
  k.make_mask = make_mask;
  k.activate = activate;
  k.activation_gradient = activation_gradient;
  k.batch_norm = batch_norm;
  k.batch_norm_moments = batch_norm_moments;
  k.batch_norm_with = batch_norm_with;
  k.frozen_batch_norm = frozen_batch_norm;
  k.layer_norm = layer_norm;
  k.batch_norm_gradient = batch_norm_gradient;
  k.batch_norm_gradient_sums = batch_norm_gradient_sums;
  k.batch_norm_gradient_with = batch_norm_gradient_with;
  k.frozen_batch_norm_gradient = frozen_batch_norm_gradient;
  k.layer_norm_gradient = layer_norm_gradient;
  k.column_sums = column_sums;
  k.cross_entropy = cross_entropy;
  k.binary_cross_entropy = binary_cross_entropy;
  k.regression_loss = regression_loss;
  k.sum_of_squares = sum_of_squares;
  k.update = update;
  k.periodic_embedding = periodic_embedding;
  k.periodic_embedding_gradient = periodic_embedding_gradient;
  k.piecewise_embedding = piecewise_embedding;
  k.piecewise_embedding_gradient = piecewise_embedding_gradient;
  return k;
}

}  // namespace trainer::cpu::TRAINER_ISA

namespace trainer::cpu {

// The kernels of each instruction set, defined in kernels_baseline.cpp, kernels_avx2.cpp and
// kernels_avx512.cpp.
extern const Kernels kBaselineKernels;  // for every machine of this architecture
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
// Kernels::multiply_bf16 with the instructions of AVX512-BF16 and of AMX, defined in
// kernels_avx512_bf16.cpp and kernels_amx.cpp.
extern void (*const kMultiplyAvx512Bf16)(const Product& product, float* scratch);
extern void (*const kMultiplyAmx)(const Product& product, float* scratch);
#elif defined(__aarch64__)
// Kernels::multiply_bf16 with the bf16 instructions of Arm, defined in kernels_neon_bf16.cpp.
extern void (*const kMultiplyNeonBf16)(const Product& product, float* scratch);
#endif

}  // namespace trainer::cpu
