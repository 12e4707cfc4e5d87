#include "emulator/machine/warp_counter.h"

#include <algorithm>
#include <bit>

#include "emulator/machine/address_windows.h"

namespace emulator {
namespace {

/// The smallest register takes so many bytes of a frame: 32 lanes of 8 bits.
constexpr std::uint32_t register_granule = 32;
constexpr unsigned banks = 32, bank_bytes = 4;
/// Banks serve so many bytes at a time: accesses of 8 and 16 bytes take parts of a warp in turn.
constexpr unsigned wavefront_bytes = banks * bank_bytes;

/// One address, for more than one lane.
bool is_uniform(const std::uint64_t* addresses, Mask lanes) {
  const std::uint64_t first = addresses[std::countr_zero(lanes)];
  bool same = std::popcount(lanes) > 1;
  for_lanes(lanes, [&](int lane) { same = same && addresses[lane] == first; });
  return same;
}

/// Fills in the addresses of the lanes and returns their space, which is never generic.
ptx::Space addresses_of(const Code& code, Mask lanes, const Frame& frame,
                        std::uint64_t* addresses) {
  const std::byte* base = frame.at(code.a);
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = lane_address(code, base, lane);
  }
  if (code.space == ptx::Space::cluster) return ptx::Space::shared;
  if (code.space != ptx::Space::generic) return code.space;
  const ptx::Space space = address_windows().space_of(addresses[std::countr_zero(lanes)]);
  return space == ptx::Space::generic ? ptx::Space::global : space;
}

}  // namespace

unsigned& LoadLevels::level(Place place) {
  // Constants, and scratch, which stands for operands that an instruction does not have.
  if (place.bank != 0 || place.offset == 0) return none_ = 0;
  Slot& slot = slots_[place.offset / register_granule];
  if (slot.block != block_) slot = {block_, 0};
  return slot.level;
}

/// The highest level among the registers that the instruction reads.
unsigned LoadLevels::sources(const Cost& cost, const Code& code) {
  unsigned highest = 0;
  for (const Place& place : {code.a, code.b, code.c, code.f})
    highest = std::max(highest, level(place));
  if (code.guard != Code::unguarded) highest = std::max(highest, level({code.guard, 0}));
  if (code.more != nullptr && cost.traffic != Traffic::load)
    for (const Place& place : *code.more) highest = std::max(highest, level(place));
  return highest;
}

/// Loads that nothing has waited for go on: they are the first level of the next block.
void LoadLevels::end_block() {
  std::erase_if(under_way_, [this](Place place) { return level(place) <= awaited_; });
  ++block_;
  awaited_ = ordered_ = 0;
  for (const Place& place : under_way_) level(place) = 1;
}

unsigned LoadLevels::follow(const Cost& cost, const Code& code, const Frame* frame,
                            bool loads_global) {
  if (frame != frame_) {  // another function's registers
    frame_ = frame;
    slots_.assign(frame->function->register_bytes / register_granule + 1, {});
    under_way_.clear();
    end_block();
  }
  const unsigned of_sources = sources(cost, code);
  unsigned waits = 0;
  if (!cost.moves && of_sources > awaited_) {
    waits = of_sources - awaited_;
    awaited_ = of_sources;
  }
  if (loads_global && code.order == Order::weak) {
    const unsigned after = cost.is_read_only ? of_sources : std::max(of_sources, ordered_);
    for (const Place& place : *code.more) {
      level(place) = after + 1;
      if (place.bank == 0) under_way_.push_back(place);
    }
  } else {
    level(code.d) = level(code.e) = of_sources;
    if (code.more != nullptr && cost.moves)
      for (const Place& place : *code.more) level(place) = of_sources;
  }
  if (cost.traffic == Traffic::store || cost.traffic == Traffic::atomic) ordered_ = awaited_;
  if (cost.ends_block) end_block();
  return waits;
}

void WarpCounter::count(const Cost& cost, const Code& code, Mask lanes, const Frame& frame) {
  std::uint64_t addresses[warp_lanes];
  const bool accesses = cost.traffic != Traffic::none;
  const ptx::Space space = accesses ? addresses_of(code, lanes, frame, addresses) : ptx::Space::reg;
  const bool loads_global = cost.traffic == Traffic::load && space == ptx::Space::global;
  counts_.load_waits += levels_.follow(cost, code, &frame, loads_global);
  counts_.instructions[static_cast<std::size_t>(cost.pipe)] += cost.instructions;
  counts_.instructions[static_cast<std::size_t>(Pipe::special)] += cost.special;
  if (cost.instructions > 0) {
    ++counts_.issued;
    counts_.lanes += static_cast<unsigned>(std::popcount(lanes));
  }
  if (cost.is_division) counts_.divisions += static_cast<unsigned>(std::popcount(lanes));
  if (cost.is_call) counts_.calls += static_cast<unsigned>(std::popcount(lanes));
  if (cost.is_unknown) ++counts_.unknown;
  if (accesses) access(cost, code, lanes, space, addresses);
}

void WarpCounter::access(const Cost& cost, const Code& code, Mask lanes, ptx::Space space,
                         const std::uint64_t* addresses) {
  if (space == ptx::Space::shared) return shared_access(addresses, lanes, cost.bytes);
  if (space == ptx::Space::local) ++counts_.local_requests;
  if (space != ptx::Space::global) return;
  switch (cost.traffic) {
    case Traffic::load:
      if (is_uniform(addresses, lanes)) {
        ++counts_.uniform_loads;
        return;
      }
      return global_access(code.order == Order::weak ? counts_.loads : counts_.polls, false,
                           addresses, lanes, cost.bytes);
    case Traffic::store:
      return global_access(counts_.stores, true, addresses, lanes, cost.bytes);
    default:
      return global_access(counts_.atomics, true, addresses, lanes, cost.bytes);
  }
}

void WarpCounter::global_access(GlobalCounts& counts, bool writes, const std::uint64_t* addresses,
                                Mask lanes, unsigned bytes) {
  std::uint64_t sectors[warp_lanes];
  std::size_t found = 0;
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    // An aligned access of up to 16 bytes lies in one sector.
    const std::uint64_t sector = addresses[std::countr_zero(rest)] / sector_bytes;
    if (found > 0 && sectors[found - 1] == sector) continue;
    if (std::find(sectors, sectors + found, sector) == sectors + found) sectors[found++] = sector;
  }
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint64_t address = sectors[i] * sector_bytes;
    if (writes ? launch_.is_first_store(address) : launch_.is_first_load(address))
      ++counts.distinct_sectors;
  }
  const auto lane_bytes = static_cast<unsigned>(std::popcount(lanes)) * bytes;
  ++counts.requests;
  counts.sectors += found;
  counts.lane_bytes += lane_bytes;
  if (bytes == 16) counts.wide_bytes += lane_bytes;
}

/// Lanes that want different words of one bank wait for each other. Wide accesses are served by
/// parts of a warp: 8 bytes by half a warp, 16 by a quarter.
void WarpCounter::shared_access(const std::uint64_t* addresses, Mask lanes, unsigned bytes) {
  ++counts_.shared_requests;
  const unsigned lanes_at_once = std::min(32U, wavefront_bytes / bytes);
  for (unsigned first = 0; first < warp_lanes; first += lanes_at_once) {
    std::uint64_t words[banks][warp_lanes];
    unsigned in_bank[banks] = {};
    unsigned most = 0;
    for (unsigned lane = first; lane < first + lanes_at_once; ++lane) {
      if (!has_lane(lanes, static_cast<int>(lane))) continue;
      for (unsigned k = 0; k < std::max(1U, bytes / bank_bytes); ++k) {
        const std::uint64_t word = addresses[lane] / bank_bytes + k;
        const std::size_t bank = word % banks;
        std::uint64_t* const there = words[bank];
        unsigned& count = in_bank[bank];
        if (std::find(there, there + count, word) != there + count) continue;
        there[count++] = word;
        most = std::max(most, count);
      }
    }
    counts_.shared_wavefronts += most;
    counts_.least_shared_wavefronts += most > 0 ? 1 : 0;
  }
}

}  // namespace emulator
