#pragma once

#include <span>
#include <string_view>

#include "kernels/ops/passes.h"

// Functions that backends take from libraries, with their published errors. The tolerance of an op
// is computed from these.
namespace assay {

struct FunctionError {
  std::string_view op;
  std::string_view function;  // library function that the op is, or uses
  double libmvec;             // ulps from the exact result, f32 and f64
  double cuda_f32;            // ulps from the correctly rounded result
  double cuda_f64;
  double operations = 0;  // further ulps from the op's own operations
  /// C, used in place of B by ops that are ill conditioned at a tail: 1e4 ulps there in every
  /// measured library.
  double argument_units = 0;
};

/// - libmvec: at most 4 ulps (glibc manual, "Errors in Math Functions").
/// - CUDA: maximum ulp error of the standard functions, full range, compiled without fast variants
///   ("CUDA C++ Programming Guide", release 12, "Mathematical Functions"; release 13 has not been
///   read). 16-bit floats are computed in f32 and rounded.
std::span<const FunctionError> function_errors();

/// Error bound that every library keeps: the largest of the published errors, half an ulp more
/// where they count from the rounded result, plus the op's own operations. Throws std::logic_error
/// for an op without a row.
Declared declared_error(std::string_view op);

}  // namespace assay
