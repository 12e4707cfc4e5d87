#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/core/element_functions.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vector_math.h"

// Activation functions, used after layers and as ops of their own. Relu is our own: oneDNN 2.6's
// turns NaN into 0.
namespace assay::cpu {

/// Mills' ratio of the normal distribution over sqrt(2 pi), exp(t^2/2) Phi(-t), for t from 0 to 15.
/// A polynomial in s = 1 / (1 + 0.35 t) interpolates it at the nine Chebyshev points of that range
/// of s; relative error below 4e-8.
inline float normal_tail(float t) {
  const float s = 1 / (1 + 0.35F * t);
  float p = -0.0297704389966F;
  p = p * s + 0.146950922175F;
  p = p * s - 0.261712669226F;
  p = p * s + 0.165801801531F;
  p = p * s - 0.0274828895531F;
  p = p * s + 0.107262773002F;
  p = p * s + 0.119417036073F;
  p = p * s + 0.13991480395F;
  p = p * s + 0.139618642871F;
  return p * s;
}

/// p 2^n, with n as shifted - to_integer.
struct ScaledPower {
  float p;
  std::uint32_t n;  // modulo 2^23
};

/// exp(x) for x from -110 to 0, relative error below 2e-7. Makes no call, across which the values
/// of normal_tail would have to be saved. 2^n exp(r) with r within half of ln 2, and exp(r) = 1 + r
/// + r^2 p, where p interpolates at the five Chebyshev points of that range.
inline ScaledPower exp_in_parts(float x) {
  constexpr float to_integer = 0x1.8p23F;  // adding it rounds numbers to integers
  const float shifted = x * std::numbers::log2e_v<float> + to_integer;
  const float n = shifted - to_integer;
  const float r =
      (x - n * 0.693359375F) + n * 2.12194440e-4F;  // ln 2 in two parts, the first short
  float p = 0.001392617612F;
  p = p * r + 0.008363173075F;
  p = p * r + 0.04166655466F;
  p = p * r + 0.1666657703F;
  p = p * r + 0.5F;
  p = 1 + r + r * r * p;
  return {p, std::bit_cast<std::uint32_t>(shifted)};
}

/// 2^n for n from -126 on.
inline float power_of_two(std::uint32_t n) { return std::bit_cast<float>((n << 23) + 0x3f800000U); }

/// exp(x) for x from -87 to 0.
inline float exp_of_negative(float x) {
  const ScaledPower power = exp_in_parts(x);
  return power.p * power_of_two(power.n);
}

struct ExpOfNegative {
  /// exp(x) for any x up to 0, and NaN. Subnormal results are scaled in two steps.
  static float exp(float x) {
    constexpr float of_zero = -110;
    const ScaledPower power = exp_in_parts(x < of_zero ? of_zero : x);
    constexpr std::uint32_t half = 64;
    return power.p * power_of_two(power.n + half) * power_of_two(-half);
  }
  static double exp(double x) { return vector_exp(x); }
};

struct Logistic : LogisticBy<ExpOfNegative> {
  static constexpr auto implementation = loop_text;
  static constexpr auto implementation_f64 = "libmvec exp";
};

struct GeluTanh : GeluTanhBy<ExpOfNegative> {
  static constexpr auto implementation = loop_text;
  static constexpr auto implementation_f64 = "libmvec exp";
};

/// x Phi(x), whose negative tail must not be a difference. f64: x/2 erfc(-x / sqrt 2). f32: the
/// functions above, and 0 from -12.9 on, where it is less than 3e-37. Sums of a layer often lie
/// there, and to multiply subnormal numbers, or to compute them by libmvec, takes ten times as
/// long. -infinity gives NaN, as in other frameworks.
struct Gelu {
  static constexpr auto implementation = loop_text;
  static constexpr auto implementation_f64 = "libmvec erfc";
  float operator()(float x) const {
    constexpr float end = 12.9F;
    const float magnitude = std::abs(x);
    // Takes the lesser as integers. For a choice between floats the compiler would compute exp for
    // either one separately, and exp of all magnitudes leaves its fast path.
    const float t = std::bit_cast<float>(
        std::min(std::bit_cast<std::int32_t>(magnitude), std::bit_cast<std::int32_t>(end)));
    const float tail = magnitude < end ? normal_tail(t) * exp_of_negative(-0.5F * t * t) : 0.0F;
    return x * (x < 0 ? tail : 1 - tail);
  }
  double operator()(double x) const {
    return x * 0.5 * vector_erfc(x * (-std::numbers::sqrt2 / 2));
  }
};

}  // namespace assay::cpu
