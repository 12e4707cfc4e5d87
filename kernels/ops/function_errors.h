#pragma once

#include <span>
#include <string_view>

#include "kernels/ops/passes.h"

// The functions that backends take from a library, and the errors that are published for them: what
// an op allows is made of these.
namespace assay {

struct FunctionError {
  std::string_view op;
  std::string_view function;  // of the libraries, which the op is, or is made of
  double libmvec;             // ulps from the exact result, f32 and f64
  double cuda_f32;            // ulps from the correctly rounded result
  double cuda_f64;
  double operations = 0;  // ulps that the op adds
  /// C in place of B: for ops that are ill conditioned at a tail, 1e4 ulps in every library that
  /// was measured.
  double argument_units = 0;
};

/// - libmvec: at most 4 ulps (glibc manual, "Errors in Math Functions").
/// - CUDA: maximum ulp error of the standard functions, full range, compiled without fast variants
///   ("CUDA C++ Programming Guide", release 12, "Mathematical Functions"; that of release 13 has
///   not been read). Floats of 16 bits are computed in f32 and rounded.
std::span<const FunctionError> function_errors();

/// What every library keeps: the largest of the published errors, half an ulp more where they count
/// from the rounded result, and the op's own operations. Throws std::logic_error for an op without
/// a row.
Declared declared_error(std::string_view op);

}  // namespace assay
