// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/types.h"
#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/math.h"
#include "nn/cpu/vector.h"  // IWYU pragma: keep (TRAINER_ISA)

// The activation functions of one number, and their derivatives (slopes).

namespace trainer::cpu::TRAINER_ISA {

struct Relu {
  [[gnu::always_inline]] static float value(float u) {
    return u < 0.0f ? 0.0f : u;
  }  // NaN stays NaN
  [[gnu::always_inline]] static float slope(float u) { return u > 0.0f ? 1.0f : 0.0f; }
};

// x Phi(x), Hendrycks and Gimpel, arXiv:1606.08415, with the exact error function.
struct Gelu {
  [[gnu::always_inline]] static float value(float u) {
    return 0.5f * u * (1.0f + erf(u * kSqrtHalf));
  }
  [[gnu::always_inline]] static float slope(float u) {
    const float density = kInverseSqrt2Pi * exp(-0.5f * u * u);
    return 0.5f * (1.0f + erf(u * kSqrtHalf)) + u * density;
  }
  static constexpr float kSqrtHalf = 0.707106781f;
  static constexpr float kInverseSqrt2Pi = 0.398942280f;
};

// Also called swish: x sigmoid(x), Elfwing and others, arXiv:1702.03118.
struct Silu {
  [[gnu::always_inline]] static float value(float u) { return u * sigmoid(u); }
  [[gnu::always_inline]] static float slope(float u) {
    const float s = sigmoid(u);
    return s * (1.0f + u * (1.0f - s));
  }
};

struct Tanh {
  [[gnu::always_inline]] static float value(float u) { return tanh(u); }
  [[gnu::always_inline]] static float slope(float u) {
    const float t = tanh(u);
    return 1.0f - t * t;
  }
};

// Scaled exponential linear unit, Klambauer and others, arXiv:1706.02515.
struct Selu {
  [[gnu::always_inline]] static float value(float u) {
    return u > 0.0f ? kScale * u : kScaleAlpha * expm1_below_zero(u > 0.0f ? 0.0f : u);
  }
  [[gnu::always_inline]] static float slope(float u) {
    return u > 0.0f ? kScale : kScaleAlpha * exp(u);
  }
  static constexpr float kScale = 1.05070099f;
  static constexpr float kScaleAlpha = 1.75809934f;
};

// x tanh(softplus(x)), Misra, arXiv:1908.08681. With e = e^x and n = e (e + 2), the hyperbolic
// tangent is n / (n + 2) and its derivative 4 e (e + 1) / (n + 2)^2.
struct Mish {
  [[gnu::always_inline]] static float value(float u) {
    const float n = numerator(exponential(u));
    return u * (n / (n + 2.0f));
  }
  [[gnu::always_inline]] static float slope(float u) {
    const float e = exponential(u);
    const float n = numerator(e);
    const float inverse = 1.0f / (n + 2.0f);
    return (n + u * 4.0f * e * (e + 1.0f) * inverse) * inverse;
  }

 private:
  // Above 20, mish(x) is x in float32.
  static float exponential(float u) { return exp(u > 20.0f ? 20.0f : u); }
  static float numerator(float e) { return e * (e + 2.0f); }
};

// Calls body() with an object of the class that computes this activation.
template <class Body>
void with_function(config::Activation kind, const Body& body) {
  switch (kind) {
    case config::Activation::kRelu:
      return body(Relu{});
    case config::Activation::kGelu:
      return body(Gelu{});
    case config::Activation::kSilu:
      return body(Silu{});
    case config::Activation::kTanh:
      return body(Tanh{});
    case config::Activation::kSelu:
      return body(Selu{});
    case config::Activation::kMish:
      return body(Mish{});
  }
}

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
