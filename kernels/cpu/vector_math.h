#pragma once

#include <cmath>

// glibc's vector variants of exp (libmvec): at most 4 ulp, and right for NaN, infinities and
// subnormals (glibc manual, "Errors in Math Functions"). The declarations tell the compiler that
// they exist, which <cmath> itself does only under -ffast-math; -ffast-math would break the rest.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
extern "C" {
__attribute__((simd("notinbranch"), const, nothrow, leaf)) float expf(float) noexcept;
__attribute__((simd("notinbranch"), const, nothrow, leaf)) double exp(double) noexcept;
}
#endif

namespace assay::cpu {

inline float vector_exp(float x) { return ::expf(x); }
inline double vector_exp(double x) { return ::exp(x); }

}  // namespace assay::cpu
