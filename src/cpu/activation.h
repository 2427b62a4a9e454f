// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/operands.h"

#include "cpu/math.h"
#include "cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

struct Relu {
  static float value(float u) { return u < 0.0f ? 0.0f : u; }  // NaN stays NaN
  static float slope(float u) { return u > 0.0f ? 1.0f : 0.0f; }
};

// x Phi(x), Hendrycks and Gimpel, arXiv:1606.08415, with the exact error function.
struct Gelu {
  static float value(float u) { return 0.5f * u * (1.0f + erf(u * kSqrtHalf)); }
  static float slope(float u) {
    const float density = kInverseSqrt2Pi * exp(-0.5f * u * u);
    return 0.5f * (1.0f + erf(u * kSqrtHalf)) + u * density;
  }
  static constexpr float kSqrtHalf = 0.707106781f;
  static constexpr float kInverseSqrt2Pi = 0.398942280f;
};

// x sigmoid(x), Elfwing and others, arXiv:1702.03118.
struct Silu {
  static float value(float u) { return u * sigmoid(u); }
  static float slope(float u) {
    const float s = sigmoid(u);
    return s * (1.0f + u * (1.0f - s));
  }
};

struct Tanh {
  static float value(float u) { return tanh(u); }
  static float slope(float u) {
    const float t = tanh(u);
    return 1.0f - t * t;
  }
};

// Klambauer and others, arXiv:1706.02515.
struct Selu {
  static float value(float u) {
    return u > 0.0f ? kScale * u : kScaleAlpha * expm1_below_zero(u > 0.0f ? 0.0f : u);
  }
  static float slope(float u) { return u > 0.0f ? kScale : kScaleAlpha * exp(u); }
  static constexpr float kScale = 1.05070099f;
  static constexpr float kScaleAlpha = 1.75809934f;
};

// x tanh(softplus(x)), Misra, arXiv:1908.08681. With e = e^x and n = e (e + 2), the hyperbolic
// tangent is n / (n + 2) and its derivative 4 e (e + 1) / (n + 2)^2.
struct Mish {
  static float value(float u) {
    const float n = numerator(exponential(u));
    return u * (n / (n + 2.0f));
  }
  static float slope(float u) {
    const float e = exponential(u);
    const float n = numerator(e);
    const float inverse = 1.0f / (n + 2.0f);
    return (n + u * 4.0f * e * (e + 1.0f) * inverse) * inverse;
  }

 private:
  static float exponential(float u) { return exp(u > 20.0f ? 20.0f : u); }  // from there on it is x
  static float numerator(float e) { return e * (e + 2.0f); }
};

// Takes the place of a null buffer without reads from memory.
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

inline void activate(config::Activation kind, const Tile& tile, const ActivationBuffers& buffers) {
  switch (kind) {
    case config::Activation::kRelu:
      return activate_with<Relu>(tile, buffers);
    case config::Activation::kGelu:
      return activate_with<Gelu>(tile, buffers);
    case config::Activation::kSilu:
      return activate_with<Silu>(tile, buffers);
    case config::Activation::kTanh:
      return activate_with<Tanh>(tile, buffers);
    case config::Activation::kSelu:
      return activate_with<Selu>(tile, buffers);
    case config::Activation::kMish:
      return activate_with<Mish>(tile, buffers);
  }
}

inline void activation_gradient(config::Activation kind, const Tile& tile,
                                const ActivationBuffers& buffers, const float* gradient) {
  switch (kind) {
    case config::Activation::kRelu:
      return activation_gradient_with<Relu>(tile, buffers, gradient);
    case config::Activation::kGelu:
      return activation_gradient_with<Gelu>(tile, buffers, gradient);
    case config::Activation::kSilu:
      return activation_gradient_with<Silu>(tile, buffers, gradient);
    case config::Activation::kTanh:
      return activation_gradient_with<Tanh>(tile, buffers, gradient);
    case config::Activation::kSelu:
      return activation_gradient_with<Selu>(tile, buffers, gradient);
    case config::Activation::kMish:
      return activation_gradient_with<Mish>(tile, buffers, gradient);
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
