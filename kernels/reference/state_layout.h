#pragma once

#include "kernels/reference/reference.h"

namespace assay::reference {

/// Numbers per element of a State with value, rest and scale of each element in sequence.
inline constexpr std::size_t solved_numbers = 3;

inline void set_solved(State& state, std::size_t element, double value, double rest, double scale) {
  double* at = &state[element * solved_numbers];
  at[0] = value;
  at[1] = rest;
  at[2] = scale;
}

/// Copies one element to place i.
inline void take_solved(std::span<const double> state, std::size_t element, const Values& out,
                        std::size_t i) {
  const double* at = &state[element * solved_numbers];
  out.value[i] = at[0];
  out.rest[i] = at[1];
  out.scale[i] = at[2];
}

/// Implements Reference::values for such a State.
inline void solved_values(const Problem& /*problem*/, std::span<const double> state,
                          std::int64_t first, Values out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    take_solved(state, static_cast<std::size_t>(first) + i, out, i);
  }
}

}  // namespace assay::reference
