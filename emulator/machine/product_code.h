#pragma once

#include "emulator/machine/matrix_code.h"

namespace emulator {

/// A wgmma.mma_async: d = a * b + d, or a * b, for 64 x k and k x n. The fragments are those of one
/// warp, which holds 16 rows.
struct ProductCode {
  int n = 0, k = 0;
  MatrixType a_type = MatrixType::f16, b_type = MatrixType::f16;
  Fragment d, a;                         // a has no registers if it is in shared memory
  Place a_descriptor{}, b_descriptor{};  // 64 bits
  Place scale{};                         // the predicate: whether d is added
  bool is_scale_negated = false;
  bool negates_a = false, negates_b = false;
  bool is_a_mn_major = false, is_b_mn_major = false;
  bool saturates = false;

  bool has_a_registers() const { return !a.registers.empty(); }
  bool is_integer() const { return d.type == MatrixType::s32; }
};

inline constexpr int warpgroup_warps = 4, product_rows = 64, rows_of_warp = 16;

}  // namespace emulator
