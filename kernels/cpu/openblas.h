#pragma once

#include <cstdint>
#include <string>

namespace assay::cpu {

/// y = a b of row-major f64 matrices through OpenBLAS, on as many threads as OpenMP has. b may be
/// stored as its n rows of k. With `add` the product is added to what y holds.
struct Dgemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool b_transposed = false;
  bool add = false;

  void run(const double* a, const double* b, double* y) const;
  /// So many products, whose matrices follow each other.
  void run_all(std::int64_t matrices, const double* a, const double* b, double* y) const;
};

/// What OPENBLAS_CORETYPE should say for processes that are yet to start: OpenBLAS chooses its
/// kernels when it is loaded, and takes processors that are newer than itself for ones of 2004, at
/// a fifth of the speed. Empty where its choice suits the processor, or is the user's own.
std::string better_openblas_core();

/// "OpenBLAS 0.3.21 dgemm Zen": the version and the processor that it took this one for.
std::string dgemm_implementation();

}  // namespace assay::cpu
