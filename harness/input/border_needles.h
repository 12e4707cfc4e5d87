#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/input/distributions.h"
#include "kernels/core/philox.h"
#include "kernels/ops/borders.h"

namespace assay::input {

/// Puts one number of a size that no other has into each line of a tensor, along each extent, at a
/// border: that of a maximum, a rank or a norm which a kernel cannot overlook. The borders take
/// turns, the last one first; the sign is another one in each round of them. `bits` decides on the
/// first sign, and on the numbers, 8 to 12.
///
/// An extent that is hardly longer than its list of borders gets none: lines along the others would
/// have many.
template <class T>
void lay_border_needles(std::span<T> elements, std::span<const std::int64_t> shape,
                        std::uint64_t bits) {
  std::int64_t inner = std::ssize(elements);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return;
    inner /= extent;  // elements from one place of this extent to the next
    const std::vector<std::int64_t> places = borders(extent);
    const auto turns = std::ssize(places);
    if (extent < 2 * turns) continue;
    const std::int64_t lines = std::ssize(elements) / extent;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t place = places[static_cast<std::size_t>(turns - 1 - line % turns)];
      const std::int64_t at = (line / inner * extent + place) * inner + line % inner;
      const std::uint64_t own = mix(bits + static_cast<std::uint64_t>(at));
      const double size = 8 + 4 * unit_interval(own);
      const bool is_negative = (static_cast<std::uint64_t>(line / turns) + bits) % 2 != 0;
      elements[static_cast<std::size_t>(at)] = round_to<T>(is_negative ? -size : size);
    }
  }
}

}  // namespace assay::input
