#pragma once

#include <cstdint>

#include "emulator/machine/releases.h"

namespace emulator::global_stamps {

inline constexpr std::uint32_t last_epoch = Knowledge::last_epoch;

// A stamp, from bit 0: bytes of the word (4), strong (1), several readers (1), epoch (13), warp
// (5), block (24), launch (16). 0: nobody.
inline constexpr std::uint64_t several = std::uint64_t{1} << 5;
inline std::uint64_t bytes_of(std::uint64_t stamp) { return stamp & 0xf; }
inline bool is_strong(std::uint64_t stamp) { return (stamp >> 4 & 1) != 0; }
inline std::uint32_t epoch_of(std::uint64_t stamp) {
  return static_cast<std::uint32_t>(stamp >> 6 & last_epoch);
}
inline int warp_of(std::uint64_t stamp) { return static_cast<int>(stamp >> 19 & 31); }
inline std::uint64_t block_of(std::uint64_t stamp) { return stamp >> 24 & 0xffffff; }
inline bool same_launch(std::uint64_t a, std::uint64_t b) { return a >> 48 == b >> 48; }
inline bool same_block(std::uint64_t a, std::uint64_t b) { return a >> 24 == b >> 24; }
/// Whether two stamps of a block are of two warps between the same barriers.
inline bool is_beside(std::uint64_t a, std::uint64_t b) {
  return ((a ^ b) >> 6 & last_epoch) == 0 && ((a ^ b) >> 19 & 31) != 0;
}
inline std::uint64_t launch_of(std::uint64_t stamp) { return stamp >> 48; }

inline std::uint64_t get(const std::uint64_t& stamp) {
  return __atomic_load_n(&stamp, __ATOMIC_RELAXED);
}
inline void put(std::uint64_t& stamp, std::uint64_t value) {
  __atomic_store_n(&stamp, value, __ATOMIC_RELAXED);
}

}  // namespace emulator::global_stamps
