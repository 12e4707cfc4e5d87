#include "emulator/runtime/copy_sides.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "emulator/runtime/say.h"

namespace emulator {
namespace {

/// Unified addressing lets pinned and managed memory stand for either kind. For other mismatches
/// the documentation promises nothing.
bool matches(cudaMemcpyKind kind, const Side& to, const Side& from) {
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  const auto suits = [](const Side& side, bool is_host) {
    return side.place == Place::pinned || side.place == Place::unified ||
           (side.place == Place::pageable) == is_host;
  };
  return kind == cudaMemcpyDefault || (suits(to, to_host) && suits(from, from_host));
}

std::string why_no_side(const Process& p, const void* pointer, std::size_t bytes,
                        const char* direction) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return fmt::format("a copy of {} bytes {} {:#x} is refused: it is {}", bytes, direction, address,
                     p.memory.describe(address));
}

std::string why_no_match(cudaMemcpyKind kind, const Side& to, const Side& from) {
  constexpr const char* kinds[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice"};
  const auto name = [](const Side& side) {
    return side.place == Place::device ? "memory of a GPU" : "memory of the host";
  };
  return fmt::format("a copy with cudaMemcpy{} is refused: it goes from {} to {}", kinds[kind],
                     name(from), name(to));
}

bool checks_copied_bytes() {
  static const bool checks = [] {
    const char* strict = std::getenv("ASSAY_EMULATOR_STRICT_COPIES");
    return strict != nullptr && std::strcmp(strict, "1") == 0;
  }();
  return checks;
}

/// Pinned memory may have been freed since the call that enqueued the copy. `Memory` looks after
/// that of GPUs.
void demand_live(const Memory& memory, const Side& side, std::size_t bytes, const char* call) {
  if (side.place != Place::pinned) return;
  const auto live = memory.find(side.address);
  if (live && side.address - live->begin + bytes <= live->bytes) return;
  throw Fault(FaultKind::illegal_address,
              std::string(call) + ": pinned memory of the host was freed before the copy ran");
}

}  // namespace

std::optional<Side> side_at(const Process& p, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto allocation = p.memory.find(address);
  if (!allocation) {
    if (pointer == nullptr || p.memory.is_device_address(address)) return std::nullopt;
    return Side{address, Place::pageable, host};
  }
  if (address - allocation->begin + bytes > allocation->bytes) return std::nullopt;
  const Place place = allocation->owner == host      ? Place::pinned
                      : allocation->owner == managed ? Place::unified
                                                     : Place::device;
  return Side{address, place, allocation->owner};
}

cudaError_t find_sides(const Process& p, const void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind, Sides& sides) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  const auto target = side_at(p, to, bytes);
  const auto source = side_at(p, from, bytes);
  if (target && source && matches(kind, *target, *source)) {
    sides = {*target, *source};
    return cudaSuccess;
  }
  if (!target) say(why_no_side(p, to, bytes, "to"));
  if (!source) say(why_no_side(p, from, bytes, "from"));
  if (target && source) say(why_no_match(kind, *target, *source));
  return cudaErrorInvalidValue;
}

/// Whether a copy changes what it writes. If not, it conflicts with nobody.
bool changes(const Memory& memory, const Side& to, const Side& from, std::size_t bytes) {
  const auto bytes_of = [&](const Side& side) {
    if (side.owner == host) return reinterpret_cast<const std::byte*>(side.address);
    const Memory::Window& window = memory.window_of(side.owner);
    return static_cast<const std::byte*>(window.view + (side.address - window.begin));
  };
  return std::memcmp(bytes_of(to), bytes_of(from), bytes) != 0;
}

/// Finds work of other streams that uses the bytes and that nothing orders with this copy or
/// memset. `from` is null for a memset.
void demand_order(Process& p, const Side& to, const Side* from, std::size_t bytes,
                  const char* call) {
  std::vector<Unordered::Range> ranges;
  const auto add = [&](const Side& side, bool writes) {
    if (side.place != Place::pageable)
      ranges.push_back({side.address, side.address + bytes, writes, call});
  };
  add(to, true);
  if (from != nullptr) add(*from, false);
  std::shared_ptr<const Unordered> unordered;
  {
    const Lock lock(p.mutex);
    unordered = p.scheduler.memory_uses().begin_copy(Scheduler::running_position(), ranges);
  }
  if (unordered == nullptr) return;
  for (const Unordered::Range& range : ranges) {
    const auto other = unordered_use(p.memory, range.begin, bytes, range.is_written, *unordered);
    if (!other || (range.is_written && from != nullptr && !changes(p.memory, to, *from, bytes)))
      continue;
    const Fault fault(
        FaultKind::race,
        fmt::format("{}: {} {} bytes at {:#x}, unordered with {} on another stream: neither an "
                    "event nor the host orders the two; it is {}",
                    call, range.is_written ? "writes" : "reads", bytes, range.begin, *other,
                    p.memory.describe(range.begin)));
    if (p.settings.findings == nullptr || !p.settings.findings->goes_on(fault)) throw fault;
  }
}

void copy_now(Process& p, const Side& to, const Side& from, std::size_t bytes, const char* call) {
  Memory& memory = p.memory;
  demand_live(memory, to, bytes, call);
  demand_live(memory, from, bytes, call);
  demand_order(p, to, &from, bytes, call);
  if (checks_copied_bytes() && from.place == Place::device && to.place != Place::device) {
    memory.view(from.address, bytes, Access::read, host, call);
  }
  memory.copy(to.address, from.address, bytes, host, call);
}

}  // namespace emulator
