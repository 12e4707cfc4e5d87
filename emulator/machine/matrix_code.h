#pragma once

#include <cstdint>
#include <vector>

#include "emulator/machine/code.h"

namespace emulator {

/// Types of a matrix's elements, some of which no register has.
enum class MatrixType : unsigned char { f16, bf16, tf32, f32, e4m3, e5m2, s8, u8, s32, f64 };

/// The registers in which each lane holds its part of a matrix.
struct Fragment {
  struct Element {
    std::uint8_t row, column;
  };
  MatrixType type = MatrixType::f16;
  std::vector<Place> registers;
  /// Element e of lane l: [e * warp_lanes + l]. Small ones share a register, the first one lowest.
  std::vector<Element> elements;
};

/// An instruction of matrices has more than Code: d = a * b + c of m x k and k x n, or the
/// fragment `d` that moves between registers and memory, where it has m rows and n columns.
struct MatrixCode {
  int m = 0, n = 0, k = 0;
  Fragment d, a, b, c;
};

}  // namespace emulator
