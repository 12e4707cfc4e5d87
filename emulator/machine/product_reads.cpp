#include "emulator/machine/product_reads.h"

#include <fmt/format.h>

#include <algorithm>

namespace emulator {

void ProductReads::add(std::size_t group, std::uint64_t product, const Code& code,
                       std::uint64_t offset) {
  if (codes_[group].size() < product) codes_[group].push_back(&code);
  last_[offset / chunk_bytes * groups_ + group] = static_cast<std::uint32_t>(product);
}

void ProductReads::wait(const WarpState& warp, std::uint64_t product) {
  const auto index = static_cast<std::size_t>(warp.index());
  auto& waits = waits_[index];
  if (waits.empty() || waits.back().product < product)
    waits.push_back({product, races_.order().warps.own(warp.index())});
}

/// Whether some warp of the group has waited for the product, and this one is ordered behind that.
bool ProductReads::is_over(const WarpState& warp, int lane, std::size_t group,
                           std::uint64_t product) const {
  for (std::size_t each = group * warpgroup_warps;
       each < std::min(waits_.size(), (group + 1) * warpgroup_warps); ++each) {
    const auto& waits = waits_[each];
    const auto found = std::ranges::lower_bound(waits, product, {}, &WaitOf::product);
    if (found == waits.end()) continue;
    // The lane's own clock counts only where the warp itself has waited.
    const ThreadStamp end{races_.order().rank(), static_cast<int>(each), lane, found->clock, 0};
    if (warp.order->ordered(warp, lane, end)) return true;
  }
  return false;
}

void ProductReads::check_write(const WarpState& warp, int lane, std::uint64_t offset,
                               std::uint64_t bytes) {
  for (std::size_t group = 0; group < groups_; ++group) {
    std::uint32_t& last = last_[offset / chunk_bytes * groups_ + group];
    const std::uint32_t product = last;
    last = 0;
    if (product == 0 || is_over(warp, lane, group, product)) continue;
    warp.find(
        FaultKind::race, lane,
        fmt::format("writes {} bytes of shared memory at {:#x}, which the wgmma.mma_async at {} of "
                    "warps {} to {} reads: nothing has waited for it (wgmma.wait_group) and come "
                    "here since",
                    bytes, offset, launch_.kernel.module->place(codes_[group][product - 1]->line),
                    group * warpgroup_warps, (group + 1) * warpgroup_warps - 1));
  }
}

}  // namespace emulator
