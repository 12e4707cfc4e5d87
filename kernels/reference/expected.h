#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

// Parts of a reference (kernels/reference/reference.h).
namespace assay::reference {

/// Inputs of one launch: `ranks[r][i]` is input i of rank r (one rank unless collective).
struct Problem {
  const OpInstance& op;
  std::span<const std::vector<HostTensor>> ranks;
  Panel panel = {};
  int of_rank = 0;  // whose output is expected; an index of `ranks`

  template <class T>
  std::span<const T> input(std::size_t index, std::size_t rank = 0) const {
    return ranks[rank][index].as<T>();
  }
};

/// Expected values of consecutive elements. y = value + rest, with at least 2^11 times the
/// precision of the output's accumulator. The op's bound multiplies `scale` by the unit roundoff
/// (sums: sum of |terms|; functions: |x|; softmax, layernorm, stacks: see their files).
struct Values {
  std::span<double> value;
  std::span<double> rest;
  std::span<double> scale;
};

/// Work shared by many elements (row sums, a matrix product), computed once. Plain numbers, or any
/// 64 bits in their place.
using State = std::vector<double>;
using Solve = State (*)(const Problem&);

/// Computes elements [first, first + out.value.size()) of the output.
using ExpectValues = void (*)(const Problem&, std::span<const double> state, std::int64_t first,
                              Values out);

/// Computes exactly rounded elements of the output's dtype, for ops whose result is defined bit for
/// bit. `out` holds whole elements.
using ExpectBits = void (*)(const Problem&, std::span<const double> state, std::int64_t first,
                            std::span<std::byte> out);

/// Reference of one op for one dtype. `values` is null if only bits are defined (copies, integers),
/// `bits` if the result is a real number still to be rounded.
struct Reference {
  Solve solve = nullptr;  // null: no shared work
  ExpectValues values = nullptr;
  ExpectBits bits = nullptr;
  /// Share of the op's terms that element `i` sums; null: all. Its scale counts them as well.
  double (*share)(const OpInstance& op, std::int64_t i) = nullptr;
  /// True for an element of `bits` of which the reference cannot tell what is right; null: for
  /// none.
  bool (*is_unknown)(std::span<const double> state, std::int64_t i) = nullptr;
  /// Measures with another effort than `before`, before a result is called wrong; null: nothing
  /// can.
  State (*solve_again)(const Problem&, const Effort&, std::span<const double> before) = nullptr;
};

}  // namespace assay::reference
