#include "emulator/machine/access.h"

#include <fmt/format.h>

#include <cstring>

#include "emulator/machine/address_windows.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/cluster_addresses.h"

namespace emulator {
namespace {

const char* verb(Access access) {
  switch (access) {
    case Access::read:
    case Access::load:
      return "reads";
    case Access::write:
      return "writes";
    case Access::copy:
      return "copies";
    default:
      return "updates";
  }
}

[[noreturn]] void fault(const Warp& warp, int lane, FaultKind kind, std::uint64_t address,
                        unsigned bytes, Access access, const std::string& why) {
  warp.fault(kind, lane,
             fmt::format("{} {} bytes at {:#x}: {}", verb(access), bytes, address, why));
}

/// After which the bytes count as written.
void find_unwritten(const Warp& warp, int lane, std::uint64_t address, unsigned bytes,
                    Access access, const std::string& where, std::uint8_t* marks) {
  warp.find(FaultKind::uninitialised_read, lane,
            fmt::format("{} {} bytes at {:#x}: nothing has written all of them{}", verb(access),
                        bytes, address, where));
  std::memset(marks, mark_written, bytes);
}

/// An address that is not in the launch's GPU, or whose bytes have not all been written.
Target locate_slowly(Warp& warp, int lane, std::uint64_t address, unsigned bytes, Access access) {
  const LaunchContext& context = warp.block().context();
  Memory& memory = context.memory;
  const int gpu = context.launch.gpu;
  AllocationCache& cache = warp.block().allocation;
  if (cache.generation != memory.generation() || address - cache.begin >= cache.bytes ||
      bytes > cache.bytes - (address - cache.begin)) {
    // Read first: an allocation that ends meanwhile makes the cache stale.
    const std::uint64_t generation = memory.generation();
    const auto allocation = memory.find(address);
    if (!allocation)
      fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
            fmt::format("it is {}", memory.describe(address)));
    if (bytes > allocation->bytes - (address - allocation->begin))
      fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
            fmt::format("the access ends past the allocation: it is {}", memory.describe(address)));
    if (!allocation->is_ready)
      fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
            fmt::format("it is {}", memory.describe(address)));
    if (!memory.may_use(gpu, *allocation))
      fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
            fmt::format("GPU {} has no peer access: it is {}", gpu, memory.describe(address)));
    cache = {generation, allocation->begin, allocation->bytes, allocation->owner};
  }
  if (cache.owner == host && context.launch.told_host != nullptr && !is_read(access))
    context.launch.told_host->store(true, std::memory_order_relaxed);
  if (cache.owner == host)
    return {reinterpret_cast<std::byte*>(address), nullptr, ptx::Space::global, address};
  const Memory::Window& window = memory.window_of(cache.owner);
  const std::uint64_t offset = address - window.begin;
  if (needs_written(access) && !all_written(window.written + offset, bytes))
    find_unwritten(warp, lane, address, bytes, access, ": it is " + memory.describe(address),
                   window.written + offset);
  return {window.view + offset, window.written + offset, ptx::Space::global, offset, &window};
}

/// Bytes of shared memory that asynchronous copies or mbarrier objects guard look unwritten.
[[gnu::cold, gnu::noinline]] bool is_written_behind_guards(Warp& warp, int lane,
                                                           const Target& target, unsigned bytes,
                                                           Access access) {
  Block& block = owner_of(warp, target);
  return block.has_async() &&
         block.async().guards.check(warp, lane, target.offset, bytes, !is_read(access));
}

/// `owner`: null for the thread's own block.
Target locate_marked(Warp& warp, int lane, MarkedBytes& memory, std::uint64_t base,
                     std::uint64_t offset, std::size_t size, unsigned bytes, Access access,
                     ptx::Space space, Block* owner = nullptr) {
  const char* name = space == ptx::Space::shared ? "shared" : "local";
  if (offset >= size || bytes > size - offset)
    fault(warp, lane, FaultKind::illegal_address, offset, bytes, access,
          fmt::format("there are {} bytes of {} memory{}", size, name,
                      owner != nullptr ? " in the other block" : ""));
  Target target{.data = memory.bytes.data() + base + offset,
                .written = memory.written.data() + base + offset,
                .space = space,
                .offset = offset,
                .owner = owner};
  if (access != Access::write && access != Access::copy && !all_written(target.written, bytes) &&
      !(space == ptx::Space::shared &&
        is_written_behind_guards(warp, lane, target, bytes, access)) &&
      access != Access::load && access != Access::exchange)
    find_unwritten(warp, lane, offset, bytes, access, fmt::format(", in {} memory", name),
                   target.written);
  return target;
}

Target locate_own(Warp& warp, int lane, std::uint64_t offset, unsigned bytes, Access access) {
  MarkedBytes& shared = warp.block().shared;
  return locate_marked(warp, lane, shared, 0, offset, shared.bytes.size(), bytes, access,
                       ptx::Space::shared);
}

/// An address that `mapa` gave.
[[gnu::noinline]] Target locate_mapped(Warp& warp, ptx::Space space, int lane,
                                       std::uint64_t address, unsigned bytes, Access access) {
  namespace addresses = cluster_addresses;
  const std::uint64_t rank = addresses::rank_of(address), offset = addresses::offset_of(address);
  const ThreadOrder& order = *warp.order;
  if (rank == static_cast<std::uint64_t>(order.rank()))
    return locate_own(warp, lane, offset, bytes, access);
  Cluster& cluster = warp.block().cluster();
  if (space == ptx::Space::shared)
    fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
          "it is not in the shared memory of the thread's own block, which .shared::cta means");
  if (rank >= static_cast<std::uint64_t>(cluster.size()))
    fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
          fmt::format("it is in the shared memory of block {} of the cluster, which has {}", rank,
                      cluster.size()));
  Block& owner = cluster.block(static_cast<int>(rank));
  if (owner.has_ended)
    fault(warp, lane, FaultKind::illegal_address, offset, bytes, access,
          fmt::format("the block {} of the cluster, whose shared memory it is, has ended", rank));
  if (!order.has_met(warp.index(), static_cast<int>(rank))) {
    warp.find(FaultKind::illegal_address, lane,
              fmt::format("{} {} bytes at {:#x}: the block {} of the cluster, whose shared memory "
                          "it is, may not have started: no barrier of the cluster comes before",
                          verb(access), bytes, offset, rank));
    warp.order->meet(warp.index(), 1u << rank);
  }
  return locate_marked(warp, lane, owner.shared, 0, offset, owner.shared.bytes.size(), bytes,
                       access, ptx::Space::shared, &owner);
}

}  // namespace

Target locate(Warp& warp, ptx::Space space, int lane, std::uint64_t address, unsigned bytes,
              Access access) {
  if ((address & (bytes - 1)) != 0)
    fault(warp, lane, FaultKind::misaligned_address, address, bytes, access,
          fmt::format("it is no multiple of {}", bytes));
  Block& block = warp.block();
  const LaunchContext& context = block.context();
  if (space == ptx::Space::generic) {
    const AddressWindows& windows = address_windows();
    space = windows.space_of(address);
    address -= windows.base_of(space);
    if (space == ptx::Space::shared) space = ptx::Space::cluster;
    if (space == ptx::Space::parameter && is_read(access)) {
      if (address + bytes > context.parameters.size())
        fault(warp, lane, FaultKind::illegal_address, address, bytes, access,
              "the parameters end before");
      return {const_cast<std::byte*>(context.parameters.data()) + address, nullptr, space, address};
    }
  }
  if (space == ptx::Space::shared || space == ptx::Space::cluster) {
    if (cluster_addresses::is_mapped(address)) [[unlikely]]
      return locate_mapped(warp, space, lane, address, bytes, access);
    return locate_own(warp, lane, address, bytes, access);
  }
  if (space == ptx::Space::local) {
    const std::size_t each = block.local_bytes_per_thread();
    const auto thread = static_cast<std::size_t>(warp.index() * warp_lanes + lane);
    return locate_marked(warp, lane, block.local, thread * each, address, each, bytes, access,
                         space);
  }
  const Memory::Window& window = context.window_at(address);
  const std::uint64_t offset = address - window.begin;
  if (offset < window.end - window.begin && all_written(window.written + offset, bytes))
    return {window.view + offset, window.written + offset, ptx::Space::global, offset, &window};
  return locate_slowly(warp, lane, address, bytes, access);
}

std::uint64_t lane_address(Warp& warp, const AddressPlace& place, int lane) {
  const auto offset = static_cast<std::uint64_t>(place.offset);
  if (place.is_narrow)
    return static_cast<std::uint32_t>(warp.at<std::uint32_t>(place.base)[lane] + offset);
  return warp.at<std::uint64_t>(place.base)[lane] + offset;
}

std::byte* locate_row(Warp& warp, const Code& code, const std::byte* base, unsigned bytes,
                      Access access) {
  const auto* addresses = reinterpret_cast<const std::uint64_t*>(base);
  const std::uint64_t first = addresses[0];
  std::uint64_t apart = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    apart |= addresses[lane] - first - std::uint64_t{lane} * bytes;
  Block& block = warp.block();
  const std::uint64_t address = first + static_cast<std::uint64_t>(code.offset);
  const Memory::Window& window = block.context().window_at(address);
  const std::uint64_t offset = address - window.begin;
  const std::uint64_t size = std::uint64_t{bytes} * warp_lanes;
  if (apart != 0 || (address & (bytes - 1)) != 0 || (address & 3) != 0 ||
      offset >= window.end - window.begin)
    return nullptr;
  std::uint8_t* marks = window.written + offset;
  if (std::memchr(marks, 0, size) != nullptr) {
    const AllocationCache& cache = block.allocation;
    if (access == Access::load || cache.generation != block.context().memory.generation() ||
        address - cache.begin >= cache.bytes || size > cache.bytes - (address - cache.begin) ||
        cache.owner == host)
      return nullptr;
  }
  if (access == Access::load)
    return block.global_races.read_row(warp, window, offset, size) ? window.view + offset : nullptr;
  if (!block.global_races.write_row(warp, window, offset, size)) return nullptr;
  std::memset(marks, 1, size);
  return window.view + offset;
}

bool locate_shared(Warp& warp, const Code& code, const std::byte* base, Mask lanes, unsigned bytes,
                   Access access, std::uint32_t* offsets) {
  const MarkedBytes& shared = warp.block().shared;
  const std::uint64_t size = shared.bytes.size();
  if (size < bytes) return false;
  bool is_wrong = false;
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    is_wrong |= (address & (bytes - 1)) != 0 || address > size - bytes;
    offsets[lane] = static_cast<std::uint32_t>(address);
  });
  if (is_wrong) return false;
  // Bytes that asynchronous copies guard look unwritten.
  if (access == Access::write && !warp.block().has_async()) return true;
  bool is_written = true;
  for_lanes(lanes, [&](int lane) {
    is_written &= all_written(shared.written.data() + offsets[lane], bytes);
  });
  return is_written;
}

namespace {

/// Whether the access is strong for the threads of the block whose memory it is: with the scope of
/// one block it is not for those of others.
bool is_strong_for(const Code& code, const Target& target) {
  return code.order != Order::weak && (target.owner == nullptr || code.scope != Scope::block);
}

}  // namespace

void note_read(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes) {
  const bool strong = code.order != Order::weak;
  if (code.used_bytes != 0xffff) [[unlikely]] {
    Code one = code;
    one.used_bytes = 0xffff;
    for (unsigned k = 0; k < bytes; ++k) {
      if ((code.used_bytes >> k & 1) == 0) continue;
      Target byte = target;
      byte.data += k;
      byte.offset += k;
      note_read(warp, one, lane, byte, 1);
    }
    return;
  }
  if (target.space == ptx::Space::shared)
    owner_of(warp, target)
        .shared_races.read(warp, lane, target.offset, bytes, is_strong_for(code, target));
  else if (target.window != nullptr)
    warp.block().global_races.read(warp, lane, target, bytes, strong);
}

void note_write(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes,
                const void* value) {
  if (target.written == nullptr) return;
  const bool strong = code.order != Order::weak;
  const Change changes{target, value, bytes};
  if (target.space == ptx::Space::shared)
    owner_of(warp, target)
        .shared_races.write(warp, lane, target.offset, bytes, is_strong_for(code, target), changes);
  else if (target.window != nullptr)
    warp.block().global_races.write(warp, lane, target, bytes, strong, changes);
  if (all_written(target.written, bytes)) return;
  if (target.space == ptx::Space::shared)
    is_written_behind_guards(warp, lane, target, bytes, Access::write);
  std::memset(target.written, 1, bytes);
}

void note_atomic(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes,
                 bool writes) {
  if (target.space == ptx::Space::shared) {
    SharedRaces& races = owner_of(warp, target).shared_races;
    const bool strong = is_strong_for(code, target);
    if (!writes) return races.read(warp, lane, target.offset, bytes, strong);
    races.write(warp, lane, target.offset, bytes, strong, Change{target, nullptr, bytes});
  } else if (target.window != nullptr) {
    if (!writes) return warp.block().global_races.read(warp, lane, target, bytes, true);
    warp.block().global_races.write(warp, lane, target, bytes, true,
                                    Change{target, nullptr, bytes});
  }
}

}  // namespace emulator
