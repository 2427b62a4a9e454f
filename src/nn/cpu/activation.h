// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/activation_functions.h"
#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

// Replaces a null buffer, without reads from memory.
struct Constant {
  float value;
  float operator[](int64_t) const { return value; }
};

/// Calls body(scale, noise, skip) with a Constant for each null buffer.
template <class Body>
void with_buffers(const ActivationBuffers& b, int64_t row_begin, const Body& body) {
  const auto with_skip = [&](auto scale, auto noise) {
    if (b.skip != nullptr) {
      body(scale, noise, b.skip + row_begin);
    } else {
      body(scale, noise, Constant{0.0f});
    }
  };
  const auto with_noise = [&](auto scale) {
    if (b.noise != nullptr) {
      with_skip(scale, b.noise + row_begin);
    } else {
      with_skip(scale, Constant{1.0f});
    }
  };
  if (b.scale != nullptr) {
    with_noise(b.scale);
  } else {
    with_noise(Constant{1.0f});
  }
}

template <class Function>
void activate_with(const Tile& tile, const ActivationBuffers& b) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t begin = i * tile.stride;
    with_buffers(b, begin, [&](auto scale, auto noise, auto skip) {
      const float* pre = b.pre + begin;
      const float* shift = b.shift;
      float* out = b.out + begin;
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) {
        const float u = pre[j] * scale[j] + shift[j];
        out[j] = Function::value(u) * noise[j] + skip[j];
      }
    });
  }
}

template <class Function>
void activation_gradient_with(const Tile& tile, const ActivationBuffers& b, const float* gradient) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t begin = i * tile.stride;
    with_buffers(b, begin, [&](auto scale, auto noise, auto /*skip*/) {
      const float* pre = b.pre + begin;
      const float* shift = b.shift;
      const float* from = gradient + begin;
      float* out = b.out + begin;
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) {
        const float u = pre[j] * scale[j] + shift[j];
        out[j] = from[j] * noise[j] * Function::slope(u);
      }
    });
  }
}

// Activations with a learned mixture of the function and its input.
template <class Function>
void parametric_activate_with(const Tile& tile, const ActivationBuffers& b) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t begin = i * tile.stride;
    with_buffers(b, begin, [&](auto scale, auto noise, auto skip) {
      const float* pre = b.pre + begin;
      const float* shift = b.shift;
      const float* mix = b.mix;
      float* out = b.out + begin;
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) {
        const float u = pre[j] * scale[j] + shift[j];
        out[j] = (u + (Function::value(u) - u) * mix[j]) * noise[j] + skip[j];
      }
    });
  }
}

template <class Function>
void parametric_gradient_with(const Tile& tile, const ActivationBuffers& b, const float* gradient) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t begin = i * tile.stride;
    with_buffers(b, begin, [&](auto scale, auto noise, auto /*skip*/) {
      const float* pre = b.pre + begin;
      const float* shift = b.shift;
      const float* mix = b.mix;
      const float* from = gradient + begin;
      float* out = b.out + begin;
      if (b.mix_gradients == nullptr) {
        TRAINER_INDEPENDENT
        for (int64_t j = 0; j < tile.num_columns; ++j) {
          const float u = pre[j] * scale[j] + shift[j];
          out[j] = from[j] * noise[j] * (1.0f + (Function::slope(u) - 1.0f) * mix[j]);
        }
        return;
      }
      float* mix_gradients = b.mix_gradients + begin;
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) {  // value and slope share their exponential
        const float u = pre[j] * scale[j] + shift[j];
        const float factor = from[j] * noise[j];
        mix_gradients[j] = factor * (Function::value(u) - u);
        out[j] = factor * (1.0f + (Function::slope(u) - 1.0f) * mix[j]);
      }
    });
  }
}

inline void activate(config::Activation kind, const Tile& tile, const ActivationBuffers& buffers) {
  with_function(kind, [&](auto function) {
    using Function = decltype(function);
    return buffers.mix == nullptr ? activate_with<Function>(tile, buffers)
                                  : parametric_activate_with<Function>(tile, buffers);
  });
}

inline void activation_gradient(config::Activation kind, const Tile& tile,
                                const ActivationBuffers& buffers, const float* gradient) {
  with_function(kind, [&](auto function) {
    using Function = decltype(function);
    return buffers.mix == nullptr ? activation_gradient_with<Function>(tile, buffers, gradient)
                                  : parametric_gradient_with<Function>(tile, buffers, gradient);
  });
}

}  // namespace trainer::cpu::TRAINER_ISA
