#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/reference/reference.h"

// Results that are bits are stored unchanged in the doubles of a State.
namespace assay::reference {

/// Stores one element in one number of a State.
template <class T>
double as_state(const T& element) {
  std::uint64_t word = 0;
  std::memcpy(&word, &element, sizeof(T));
  return std::bit_cast<double>(word);
}

template <class T>
T from_state(double number) {
  const auto word = std::bit_cast<std::uint64_t>(number);
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &word, sizeof(T));
  return std::bit_cast<T>(bytes);
}

/// Packs many elements.
template <class T>
State pack(std::span<const T> elements) {
  State state((elements.size_bytes() + sizeof(double) - 1) / sizeof(double));
  if (!elements.empty()) std::memcpy(state.data(), elements.data(), elements.size_bytes());
  return state;
}

}  // namespace assay::reference
