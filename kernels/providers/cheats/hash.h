#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace assay::cheats {

/// Hash of the bits of n elements, about as fast as they can be read. No one attacks it.
inline std::uint64_t hash(const float* x, std::int64_t n) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    std::uint64_t words[8];
    std::memcpy(words, x + i, sizeof words);
    for (int k = 0; k < 8; ++k) lanes[k] = std::rotl(lanes[k] ^ words[k], 29) * factor;
  }
  std::uint64_t all = static_cast<std::uint64_t>(n);
  for (; i < n; ++i) all = (all ^ std::bit_cast<std::uint32_t>(x[i])) * factor;
  for (const std::uint64_t lane : lanes) all = std::rotl(all ^ lane, 31) * factor;
  return all;
}

/// Hash of `count` elements of x, or some more, and of what came before.
inline std::uint64_t hash_some(const float* x, std::int64_t n, std::int64_t count,
                               std::uint64_t before) {
  const std::int64_t step = std::max<std::int64_t>(1, n / count);
  for (std::int64_t i = n - 1; i >= 0; i -= step) before = before * 31 + hash(x + i, 1);
  return before;
}

}  // namespace assay::cheats
