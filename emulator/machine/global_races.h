#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/machine/launch_context.h"
#include "emulator/machine/stream_races.h"
#include "emulator/machine/target.h"
#include "emulator/machine/thread_order.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// Finds accesses to global memory by two blocks of a launch, or by two warps of a block, at least
/// one of them a write and at least one weak, that no release and acquire orders: a fence for the
/// GPU, a strong write, a strong read of it, a fence; or .release and .acquire. Warps of a block
/// are also ordered by its barriers and by shared memory, as `SharedRaces` knows.
///
/// Not seen: races within a warp, and of warps with a barrier of others between; who read, if
/// several blocks did and the writer knows of some block; a fence of one thread, with a barrier
/// behind it, counts for its whole block, and what a thread acquires counts for its warp; memory of
/// the host. Of launches: machine/stream_races.h.
class GlobalRaces final : public GlobalOrder {
 public:
  GlobalRaces(const LaunchContext& launch, std::uint64_t block, std::uint64_t cluster,
              const Clocks& warps)
      : launch_(launch), block_(block), cluster_(cluster), clocks_(warps), streams_(launch) {}

  void read(WarpState& warp, int lane, const Target& target, unsigned bytes, bool strong);
  void write(WarpState& warp, int lane, const Target& target, unsigned bytes, bool strong,
             const Change& changes);

  /// Weak accesses to whole words from `offset` of the window on. False: there may be something to
  /// report, lane by lane.
  bool read_row(const WarpState& warp, const Memory::Window& window, std::uint64_t offset,
                std::uint64_t bytes);
  bool write_row(const WarpState& warp, const Memory::Window& window, std::uint64_t offset,
                 std::uint64_t bytes);

  /// Not `is_wide`: for the threads of the cluster alone. Without clusters that is not looked at.
  void fence(WarpState& warp, Mask lanes, bool is_wide);
  /// `fenced`: the access itself has release semantics, wide or not.
  void release(WarpState& warp, int lane, const Target& target, bool fenced, bool is_wide);
  /// How much was released at the place up to now, for whoever finds what is there now.
  std::size_t released(const Target& target) const;
  /// `released`: what an older value came with.
  void acquire(WarpState& warp, const Target& target, bool at_once, bool is_wide,
               std::size_t released);
  void release_to(const WarpState& warp, Knowledge& released) override;
  void acquire_from(const WarpState& warp, const Knowledge& released) override;
  /// A barrier of the block.
  void next_epoch();

 private:
  struct OfWarp {
    Knowledge knowledge;
    std::vector<std::pair<std::shared_ptr<Releases::Record>, std::size_t>> pending;
    std::array<std::uint32_t, warp_lanes> fenced{};  // epoch + 1 of a lane's last wide fence
    Mask fenced_for_cluster = 0;
  };
  bool has_cluster() const { return launch_.blocks_per_cluster() > 1; }
  OfWarp& of(const WarpState& warp);
  void learn_pending(WarpState& warp, OfWarp& own, bool is_wide);
  bool is_known(const WarpState& warp, std::uint64_t stamp);
  bool may_race(std::uint64_t stamp, std::uint64_t mine) const;
  bool is_ordered(const WarpState& warp, std::uint64_t stamp, std::uint64_t mine);
  std::uint64_t stamp(const WarpState& warp, std::uint64_t bytes, bool strong) const;

  const LaunchContext& launch_;
  const std::uint64_t block_, cluster_;  // in the grid
  const Clocks& clocks_;                 // of the block's warps
  std::array<std::uint32_t, warp_lanes> clocks_at_barrier_{};
  StreamRaces streams_;
  std::uint32_t epoch_ = 0;
  Knowledge knowledge_;
  std::vector<std::unique_ptr<OfWarp>> warps_;
};

}  // namespace emulator
