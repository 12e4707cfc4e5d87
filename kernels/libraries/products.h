#pragma once

#include <cstdint>

#include "kernels/libraries/library.h"

namespace assay::libraries {

/// Products of `batch` pairs of matrices a and b, which lie in rows: m rows of n sums of k terms
/// each. A transposed a has k rows of m, and a transposed b n rows of k.
struct Products {
  std::int64_t batch = 1;
  std::int64_t m, n, k;
  bool a_transposed = false;
  bool b_transposed = false;

  std::int64_t row_of_a() const { return a_transposed ? m : k; }
  std::int64_t row_of_b() const { return b_transposed ? k : n; }
};

/// Returns what linear, linear_dx, linear_dw and batched_matmul multiply. Throws NotMine for a
/// layer with more than a product.
Products products_of(const Problem& problem);

}  // namespace assay::libraries
