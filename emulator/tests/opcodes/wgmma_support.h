#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/matrix_model.h"

// Products of wgmma as the tests describe them, and their factors as TMA lays them in shared
// memory: in rows with a swizzle that depends on the row, not on an address.
namespace emulator::test {

/// How a factor lies in shared memory. A row of a swizzled one has `swizzle_bytes` along its major
/// dimension; eight rows are an atom.
struct SharedLayout {
  int swizzle_bytes = 0;  // 0: no swizzle, 32, 64, 128
  bool is_k_major = true;
  bool are_atoms_by_columns = false;  // which of the two strides is the smaller one
  int base_offset = 0;                // where the pattern of the swizzle begins, in 128 bytes
};

/// A factor of `extent` (rows of a, columns of b) times k elements.
struct SharedFactor {
  SharedLayout layout;
  std::string type;
  int extent, k;
  std::size_t begin;  // in shared memory

  std::size_t bytes() const { return static_cast<std::size_t>(extent * k) * matrix_bytes(type); }
  /// Of element (i, l), from the beginning of shared memory.
  std::size_t offset(int i, int l) const;
  /// Of the part that begins at element l along k.
  std::uint64_t descriptor(int l) const;
};

struct WgmmaCase {
  const char *d, *a, *b;
  int n, k;  // of one instruction
  SharedLayout a_layout{}, b_layout{};
  bool has_a_registers = false;
  UnitModel model{};  // terms 0: integers
  int steps = 2;      // instructions, one behind the other along k
  bool adds = true, negates_a = false, negates_b = false;
  const char* more = "";  // .satfinite
  const char* gpu = "h100";
};
std::string instruction_of(const WgmmaCase& c);

/// A matrix as rows of values.
struct Values {
  int rows, columns;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(rows * columns));
  double& at(int row, int column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Bits of d, as rows: a has 64 rows, b n columns.
std::vector<std::uint64_t> run_wgmma(const WgmmaCase& c, Values a, Values b, Values sum,
                                     std::uint64_t seed = 1);

}  // namespace emulator::test
