#pragma once

#include <cstdint>
#include <string>

namespace assay::cpu {

/// y = a b of row-major f64 matrices by OpenBLAS, on OpenMP's number of threads. a may be stored as
/// k rows of m, b as n rows of k. With `add` the product is added to y.
struct Dgemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool a_transposed = false;
  bool b_transposed = false;
  bool add = false;

  void run(const double* a, const double* b, double* y) const;
  /// Runs `matrices` products, whose matrices follow each other.
  void run_all(std::int64_t matrices, const double* a, const double* b, double* y) const;
};

/// Value of OPENBLAS_CORETYPE for processes that start later. OpenBLAS chooses its kernels when it
/// is loaded, and treats processors newer than itself as ones of 2004, at a fifth of the speed.
/// Empty if its choice suits the processor, or is the user's own.
std::string better_openblas_core();

/// Returns "OpenBLAS 0.3.21 dgemm Zen": the version, and the processor that OpenBLAS detected.
std::string dgemm_implementation();

}  // namespace assay::cpu
