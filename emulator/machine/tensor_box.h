#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "emulator/machine/tensor_map.h"

namespace emulator {

using Coordinates = std::array<std::int64_t, TensorMap::max_rank>;

/// Elements of a box that lie side by side in global memory, within the tensor's bounds.
struct BoxRow {
  Coordinates first;       // the coordinates of its first element
  std::uint64_t address;   // in global memory
  std::size_t box_offset;  // bytes from the box's begin, without swizzle
  std::size_t bytes;
};

/// "(3,-1)": as many as the rank.
std::string text_of(const TensorMap& map, const Coordinates& coordinates);

/// Calls `f(BoxRow)` for each row of a box at these coordinates that has elements within bounds.
template <class F>
void for_each_row(const TensorMap& map, const Coordinates& at, F f) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(map.type));
  const std::int64_t width = map.box[0];
  const std::int64_t begin = at[0] < 0 ? -at[0] : 0,
                     end = std::min(width, static_cast<std::int64_t>(map.dims[0]) - at[0]);
  if (begin >= end) return;
  std::array<std::uint32_t, TensorMap::max_rank> step{};
  for (std::size_t row = 0;; ++row) {
    BoxRow each{at, map.address, row * static_cast<std::size_t>(width * bytes), 0};
    bool is_inside = true;
    for (std::size_t i = 1; i < map.rank; ++i) {
      each.first[i] = at[i] + std::int64_t{step[i]} * map.element_stride(i);
      is_inside &= each.first[i] >= 0 && each.first[i] < static_cast<std::int64_t>(map.dims[i]);
      each.address += static_cast<std::uint64_t>(each.first[i]) * map.stride(i);
    }
    if (is_inside) {
      each.first[0] += begin;
      each.address += static_cast<std::uint64_t>(each.first[0] * bytes);
      each.box_offset += static_cast<std::size_t>(begin * bytes);
      each.bytes = static_cast<std::size_t>((end - begin) * bytes);
      f(each);
    }
    std::size_t i = 1;
    while (i < map.rank && ++step[i] == map.steps(i)) step[i++] = 0;
    if (i >= map.rank) return;
  }
}

}  // namespace emulator
