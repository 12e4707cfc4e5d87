#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

// glibc's vector functions (libmvec): at most 4 ulp, and right for NaN, infinities and subnormals
// (glibc manual, "Errors in Math Functions"; measured in docs/deviations.md). These declarations
// tell the compiler that they exist. <cmath> does so only under -ffast-math, which would break the
// rest.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ASSAY_VECTOR_FUNCTION __attribute__((simd("notinbranch"), const, nothrow, leaf))
extern "C" {
ASSAY_VECTOR_FUNCTION float expf(float) noexcept;
ASSAY_VECTOR_FUNCTION double exp(double) noexcept;
ASSAY_VECTOR_FUNCTION float logf(float) noexcept;
ASSAY_VECTOR_FUNCTION double log(double) noexcept;
ASSAY_VECTOR_FUNCTION float tanhf(float) noexcept;
ASSAY_VECTOR_FUNCTION double tanh(double) noexcept;
ASSAY_VECTOR_FUNCTION float erfcf(float) noexcept;
ASSAY_VECTOR_FUNCTION double erfc(double) noexcept;
ASSAY_VECTOR_FUNCTION float powf(float, float) noexcept;
ASSAY_VECTOR_FUNCTION double pow(double, double) noexcept;
}
#undef ASSAY_VECTOR_FUNCTION
#endif

namespace assay::cpu {

inline float vector_exp(float x) { return ::expf(x); }
inline double vector_exp(double x) { return ::exp(x); }
/// e^x of numbers that may be low, as masks and distances from a maximum are. The library computes
/// those whose result is zero one by one, ten times as slowly: they do not reach it. Bits that are
/// cleared, as the compiler would make one of two selects, and compute all again.
template <class C>
__attribute__((always_inline)) inline C vector_exp_of_low(C x) {
  using Bits = std::conditional_t<sizeof(C) == sizeof(float), std::uint32_t, std::uint64_t>;
  constexpr C low = sizeof(C) == sizeof(float) ? -104 : -746;  // less than half the least number
  const Bits kept = Bits{0} - static_cast<Bits>(!(x < low));
  const auto keep = [kept](C value) {
    return std::bit_cast<C>(static_cast<Bits>(std::bit_cast<Bits>(value) & kept));
  };
  return keep(vector_exp(keep(x)));
}
inline float vector_log(float x) { return ::logf(x); }
inline double vector_log(double x) { return ::log(x); }
inline float vector_tanh(float x) { return ::tanhf(x); }
inline double vector_tanh(double x) { return ::tanh(x); }
inline float vector_erfc(float x) { return ::erfcf(x); }
inline double vector_erfc(double x) { return ::erfc(x); }
inline float vector_pow(float x, float y) { return ::powf(x, y); }
inline double vector_pow(double x, double y) { return ::pow(x, y); }

}  // namespace assay::cpu
