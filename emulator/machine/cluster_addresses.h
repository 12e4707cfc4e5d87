#pragma once

#include <cstdint>

namespace emulator {

// Addresses within shared memory. Those below `slot_bytes` are the thread's own block's; behind
// them each block of the cluster has a slot, by its rank: `mapa` gives such addresses.
namespace cluster_addresses {

inline constexpr std::uint64_t slot_bytes = std::uint64_t{1} << 19;
inline constexpr int max_blocks = 16;

inline bool is_mapped(std::uint64_t address) { return address >= slot_bytes; }
/// The rank in a mapped address; may be none of the cluster.
inline std::uint64_t rank_of(std::uint64_t address) { return address / slot_bytes - 1; }
inline std::uint64_t offset_of(std::uint64_t address) { return address % slot_bytes; }
inline std::uint64_t mapped(std::uint64_t offset, std::uint64_t rank) {
  return (rank + 1) * slot_bytes + offset;
}

}  // namespace cluster_addresses
}  // namespace emulator
