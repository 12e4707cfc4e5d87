#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/machine/product_code.h"
#include "emulator/machine/shared_races.h"

namespace emulator {

/// Shared memory that products of wgmma read through descriptors, by warpgroup the last product of
/// each 16 bytes. Who writes there must come behind a wait of any warp of the warpgroup, as each
/// waits for the whole product.
class ProductReads {
 public:
  ProductReads(const LaunchContext& launch, const SharedRaces& races, std::size_t bytes,
               std::size_t warps)
      : launch_(launch),
        races_(races),
        groups_((warps + warpgroup_warps - 1) / warpgroup_warps),
        last_(groups_ * (bytes / chunk_bytes + 1)),
        waits_(warps),
        codes_(groups_) {}

  /// A product of the warpgroup reads 16 bytes. Products count from 1.
  void add(std::size_t group, std::uint64_t product, const Code& code, std::uint64_t offset);
  /// The warp has waited for all products up to this one.
  void wait(const WarpState& warp, std::uint64_t product);
  /// Throws LaneFault for a write of bytes in these 16 that a product may still read. They may be
  /// written from now on.
  void check_write(const WarpState& warp, int lane, std::uint64_t offset, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t chunk_bytes = 16;
  struct WaitOf {
    std::uint64_t product;
    std::uint32_t clock;  // of the warp within the block
  };
  bool is_over(const WarpState& warp, int lane, std::size_t group, std::uint64_t product) const;

  const LaunchContext& launch_;
  const SharedRaces& races_;
  std::size_t groups_;
  std::vector<std::uint32_t> last_;  // of each group, for each 16 bytes
  std::vector<std::vector<WaitOf>> waits_;
  std::vector<std::vector<const Code*>> codes_;  // of each group's products
};

}  // namespace emulator
