#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "emulator/libraries/nccl/interface.h"

namespace emulator::nccl {

/// The operation of a collective on the elements of its ranks.
struct Reduction {
  Operation operation = sum;
  bool has_scalar = false;  // multiplies each element first
};

/// A rank's part.
struct Contribution {
  const std::byte* elements;
  std::array<std::byte, 8> scalar;  // of the message's type
};

/// Reduces `count` elements. As in a ring, element e belongs to chunk c = e / ceil(count / ranks),
/// which starts at rank c + 1 and collects the ranks in order, and every step rounds to the type.
/// avg of floats multiplies by 1 / ranks first, avg of integers divides the sum and drops the rest.
/// min and max drop NaN beside a number, as fminf and __hmin do, which NCCL uses from 2.10 on.
/// `rotation` shifts the first rank: 0 but for the fault of sums in another order.
void reduce(const Reduction& reduction, Type type, std::span<const Contribution> ranks,
            std::size_t count, std::size_t rotation, std::byte* result);

}  // namespace emulator::nccl
