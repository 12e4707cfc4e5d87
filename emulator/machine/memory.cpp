#include "emulator/machine/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "emulator/machine/cache.h"
#include "emulator/machine/reservation.h"

namespace emulator {
namespace {

constexpr std::size_t gpu_alignment = 256, page_bytes = 4096;
/// Between two allocations. A page, so that an index that is off by a row of a small matrix falls
/// into it as well.
constexpr std::size_t red_zone = 4096;
constexpr std::size_t stamp_bytes = 4;        // for each byte: two of 8 bytes for every 4
constexpr std::size_t byte_stamp_bytes = 16;  // two for each
constexpr std::uint64_t launches = 65535;

std::size_t align_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

using Ranges = std::map<std::uintptr_t, std::size_t>;

/// The range that begins last at or before the address; null: none.
const Ranges::value_type* range_before(const Ranges& ranges, std::uintptr_t address) {
  const auto after = ranges.upper_bound(address);
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

/// What the range of a pool has beside its size.
struct Pooled {
  bool is_ready = false;
  GpuSet users = 0;
};

/// Memory of a GPU, or managed memory.
struct Part {
  // Twice the capacity: freed addresses stay unused until the other half has been.
  Part(std::size_t capacity_bytes, bool of_managed)
      : capacity(capacity_bytes),
        span(align_up(2 * capacity_bytes + (std::size_t{64} << 20), red_zone)),
        is_managed(of_managed),
        alignment(of_managed ? page_bytes : gpu_alignment),
        addresses(span, Reservation::Use::addresses_only),
        view(of_managed ? Reservation() : Reservation(span, Reservation::Use::zeros)),
        written(span, Reservation::Use::zeros),
        stamps(span * stamp_bytes, Reservation::Use::zeros),
        byte_stamps(span * byte_stamp_bytes, Reservation::Use::zeros),
        next(addresses.address() + red_zone) {}

  std::size_t capacity, span;
  bool is_managed;
  std::size_t alignment;
  std::size_t used = 0;
  Reservation addresses, view, written, stamps, byte_stamps;
  std::unique_ptr<bool> has_byte_stamps = std::make_unique<bool>(false);
  std::uintptr_t next;
  Ranges live, freed;  // freed: until another one takes the place
  std::map<std::uintptr_t, Pooled> pooled;

  std::uintptr_t begin() const { return addresses.address(); }
  std::uintptr_t end() const { return begin() + span; }
  std::size_t charge_of(std::size_t bytes) const {
    return align_up(std::max<std::size_t>(bytes, 1), alignment);
  }
  /// The bytes themselves, which the host sees at their addresses if they are managed.
  Reservation& bytes() { return is_managed ? addresses : view; }
};

}  // namespace

struct Memory::State {
  mutable std::shared_mutex mutex;
  std::vector<Part> parts;  // of the GPUs, and of managed memory
  std::vector<Window> windows;
  Ranges host_ranges;
  std::vector<std::vector<std::uint8_t>> peers;
  std::atomic<std::uint64_t> generation{1};
  std::atomic<std::uint64_t> launch{0};
  std::mutex cache_mutex;
  std::vector<Cache> caches;  // empty: not followed

  void use(int gpu, std::uintptr_t address, std::size_t bytes) {
    if (gpu < 0 || caches.empty()) return;
    const std::lock_guard lock(cache_mutex);
    caches[static_cast<std::size_t>(gpu)].use(address, bytes);
  }

  int owner_of(std::uintptr_t address) const {
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (address >= windows[i].begin && address < windows[i].end)
        return windows[i].is_managed ? managed : static_cast<int>(i);
    return host;
  }

  /// Of a GPU or of managed memory, as in `parts` and `windows`.
  std::size_t index_of(int owner) const {
    return owner == managed ? parts.size() - 1 : static_cast<std::size_t>(owner);
  }

  std::optional<Allocation> find(std::uintptr_t address) const {
    const int owner = owner_of(address);
    if (owner != host) {
      const Part& part = parts[index_of(owner)];
      const auto* range = range_before(part.live, address);
      if (range == nullptr || address - range->first >= range->second) return std::nullopt;
      Allocation allocation{range->first, range->second, owner};
      if (const auto pooled = part.pooled.find(range->first); pooled != part.pooled.end()) {
        allocation.is_ready = pooled->second.is_ready;
        allocation.is_pooled = true;
        allocation.pool_users = pooled->second.users;
      }
      return allocation;
    }
    const auto* range = range_before(host_ranges, address);
    if (range == nullptr || address - range->first >= range->second) return std::nullopt;
    return Allocation{range->first, range->second, host};
  }

  /// The first place from `from` on that keeps its distance from all live ranges.
  std::uintptr_t free_place(const Part& part, std::uintptr_t from, std::size_t bytes) const {
    std::uintptr_t place = from;
    if (const auto* before = range_before(part.live, from))
      place = std::max(place, align_up(before->first + before->second + red_zone, part.alignment));
    for (auto range = part.live.upper_bound(from); range != part.live.end(); ++range) {
      if (place + bytes + red_zone <= range->first) break;
      place = align_up(range->first + range->second + red_zone, part.alignment);
    }
    return place + bytes + red_zone <= part.end() ? place : 0;
  }

  std::uintptr_t allocate(Part& part, std::size_t bytes);
  void clear(Part& part, std::uintptr_t address, std::size_t charged);
};

Memory::Memory(std::span<const std::size_t> gpu_bytes) : state_(std::make_unique<State>()) {
  state_->parts.reserve(gpu_bytes.size() + 1);
  const auto add = [&](std::size_t capacity, bool is_managed) {
    Part& part = state_->parts.emplace_back(capacity, is_managed);
    state_->windows.push_back({part.begin(), part.end(), part.bytes().data(),
                               reinterpret_cast<std::uint8_t*>(part.written.data()),
                               reinterpret_cast<std::uint64_t*>(part.stamps.data()),
                               reinterpret_cast<std::uint64_t*>(part.byte_stamps.data()),
                               part.has_byte_stamps.get(), is_managed});
  };
  std::size_t largest = 0;
  for (const std::size_t bytes : gpu_bytes) {
    add(bytes, false);
    largest = std::max(largest, bytes);
  }
  add(2 * largest, true);  // GPUs may be oversubscribed
  state_->peers.assign(gpu_bytes.size(), std::vector<std::uint8_t>(gpu_bytes.size(), 0));
}

Memory::~Memory() = default;

std::uintptr_t Memory::State::allocate(Part& part, std::size_t bytes) {
  // Compared before it is rounded: sizes near 2^64 must not wrap.
  if (bytes > part.capacity - part.used) return 0;
  const std::size_t charged = part.charge_of(bytes);
  if (charged > part.capacity - part.used) return 0;
  std::uintptr_t place = free_place(part, part.next, charged);
  if (place == 0) place = free_place(part, part.begin() + red_zone, charged);
  if (place == 0) return 0;
  const std::size_t offset = place - part.begin();
  if (part.is_managed && !part.addresses.admit(offset, charged)) return 0;
  part.next = align_up(place + charged + red_zone, part.alignment);
  part.used += charged;
  const auto* before = range_before(part.freed, place);
  auto replaced = before == nullptr ? part.freed.begin() : part.freed.find(before->first);
  if (before != nullptr && before->first + before->second <= place) ++replaced;
  while (replaced != part.freed.end() && replaced->first < place + charged)
    replaced = part.freed.erase(replaced);
  part.live[place] = bytes;
  part.bytes().expect_use(offset, charged);
  part.written.expect_use(offset, charged);
  if (part.is_managed) std::memset(windows.back().written + offset, 1, bytes);
  ++generation;
  return place;
}

void Memory::State::clear(Part& part, std::uintptr_t address, std::size_t charged) {
  const std::size_t offset = address - part.begin();
  part.bytes().clear(offset, charged);
  part.written.clear(offset, charged);
  part.stamps.clear(offset * stamp_bytes, charged * stamp_bytes);
  if (__atomic_load_n(part.has_byte_stamps.get(), __ATOMIC_RELAXED))
    part.byte_stamps.clear(offset * byte_stamp_bytes, charged * byte_stamp_bytes);
  ++generation;
}

std::uintptr_t Memory::allocate(int gpu, std::size_t bytes) {
  const std::unique_lock lock(state_->mutex);
  return state_->allocate(state_->parts.at(static_cast<std::size_t>(gpu)), bytes);
}

std::uintptr_t Memory::allocate_managed(std::size_t bytes) {
  const std::unique_lock lock(state_->mutex);
  return state_->allocate(state_->parts.back(), bytes);
}

std::uintptr_t Memory::allocate_pooled(int gpu, std::size_t bytes, GpuSet users) {
  const std::unique_lock lock(state_->mutex);
  Part& part = state_->parts.at(static_cast<std::size_t>(gpu));
  const std::uintptr_t address = state_->allocate(part, bytes);
  if (address != 0) part.pooled[address] = {false, users};
  return address;
}

void Memory::set_ready(std::uintptr_t address, bool is_ready) {
  const std::unique_lock lock(state_->mutex);
  Part& part = state_->parts[state_->index_of(state_->owner_of(address))];
  const auto found = part.pooled.find(address);
  if (found == part.pooled.end()) return;  // freed before its stream came to it
  found->second.is_ready = is_ready;
  state_->clear(part, address, part.charge_of(part.live.at(address)));
}

void Memory::set_pool_users(std::uintptr_t address, GpuSet users) {
  const std::unique_lock lock(state_->mutex);
  Part& part = state_->parts[state_->index_of(state_->owner_of(address))];
  part.pooled.at(address).users = users;
  ++state_->generation;
}

bool Memory::release(std::uintptr_t address) {
  const std::unique_lock lock(state_->mutex);
  const int owner = state_->owner_of(address);
  if (owner == host) return false;
  Part& part = state_->parts[state_->index_of(owner)];
  const auto found = part.live.find(address);
  if (found == part.live.end()) return false;
  const std::size_t charged = part.charge_of(found->second);
  part.freed[address] = found->second;
  part.live.erase(found);
  part.pooled.erase(address);
  part.used -= charged;
  state_->clear(part, address, charged);
  if (part.is_managed) part.addresses.refuse(address - part.begin(), charged);
  return true;
}

std::size_t Memory::free_bytes(int gpu) const {
  const std::shared_lock lock(state_->mutex);
  const Part& part = state_->parts.at(static_cast<std::size_t>(gpu));
  return part.capacity - part.used;
}

std::size_t Memory::total_bytes(int gpu) const {
  return state_->parts.at(static_cast<std::size_t>(gpu)).capacity;
}

void Memory::add_host(void* begin, std::size_t bytes) {
  const std::unique_lock lock(state_->mutex);
  state_->host_ranges[reinterpret_cast<std::uintptr_t>(begin)] = bytes;
  ++state_->generation;
}

bool Memory::remove_host(void* begin) {
  const std::unique_lock lock(state_->mutex);
  ++state_->generation;
  return state_->host_ranges.erase(reinterpret_cast<std::uintptr_t>(begin)) != 0;
}

std::optional<Allocation> Memory::find(std::uintptr_t address) const {
  const std::shared_lock lock(state_->mutex);
  return state_->find(address);
}

bool Memory::is_device_address(std::uintptr_t address) const {
  return state_->owner_of(address) != host;
}

bool Memory::is_managed_address(std::uintptr_t address) const {
  return state_->owner_of(address) == managed;
}

void Memory::enable_peer(int gpu, int owner, bool enabled) {
  const std::unique_lock lock(state_->mutex);
  state_->peers.at(static_cast<std::size_t>(gpu)).at(static_cast<std::size_t>(owner)) = enabled;
  ++state_->generation;
}

bool Memory::may_use(int gpu, const Allocation& allocation) const {
  const int owner = allocation.owner;
  if (gpu == host || owner < 0 || gpu == owner) return true;
  if (allocation.is_pooled) return (allocation.pool_users >> gpu & 1) != 0;
  const std::shared_lock lock(state_->mutex);
  return state_->peers[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(owner)] != 0;
}

std::byte* Memory::view(std::uintptr_t address, std::size_t bytes, Access access, int gpu,
                        const std::string& what) {
  const char* verb = access == Access::read    ? "reads"
                     : access == Access::write ? "writes"
                     : access == Access::copy  ? "copies"
                                               : "updates";
  const auto fault = [&](FaultKind kind, const std::string& why) {
    return Fault(kind, fmt::format("{}: {} {} bytes at {:#x}: {}; it is {}", what, verb, bytes,
                                   address, why, describe(address)));
  };
  const int owner = state_->owner_of(address);
  if (owner == host && gpu == host) return reinterpret_cast<std::byte*>(address);
  const auto allocation = find(address);
  if (!allocation) throw fault(FaultKind::illegal_address, "no allocation holds the address");
  if (bytes > allocation->bytes - (address - allocation->begin))
    throw fault(FaultKind::illegal_address, "the allocation ends before");
  if (!allocation->is_ready)
    throw fault(FaultKind::illegal_address, "its stream has not come to its allocation");
  if (!may_use(gpu, *allocation))
    throw fault(FaultKind::illegal_address,
                fmt::format("GPU {} has no peer access to GPU {}", gpu, owner));
  if (owner == host) return reinterpret_cast<std::byte*>(address);
  const Window& window = window_of(owner);
  const std::size_t offset = address - window.begin;
  if (needs_written(access) && !is_initialised(address, bytes))
    throw fault(FaultKind::uninitialised_read, "nothing has written all of them");
  if (access == Access::write || access == Access::atomic)
    std::memset(window.written + offset, 1, bytes);
  state_->use(owner, address, bytes);
  return window.view + offset;
}

bool Memory::is_initialised(std::uintptr_t address, std::size_t bytes) const {
  const int owner = state_->owner_of(address);
  if (owner == host) return true;
  const Window& window = window_of(owner);
  return std::memchr(window.written + (address - window.begin), 0, bytes) == nullptr;
}

void Memory::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, int gpu,
                  const std::string& what) {
  if (bytes == 0) return;
  const int source = state_->owner_of(from), target = state_->owner_of(to);
  const auto place = [&](std::uintptr_t address, int owner, const char* verb) {
    if (owner == host) return reinterpret_cast<std::byte*>(address);
    const auto allocation = find(address);
    if (!allocation || bytes > allocation->bytes - (address - allocation->begin) ||
        !allocation->is_ready || !may_use(gpu, *allocation))
      throw Fault(FaultKind::illegal_address,
                  fmt::format("{}: {} {} bytes at {:#x}: it is {}", what, verb, bytes, address,
                              describe(address)));
    const Window& window = window_of(owner);
    return window.view + (address - window.begin);
  };
  const std::byte* in = place(from, source, "reads");
  std::byte* out = place(to, target, "writes");
  state_->use(source, from, bytes);
  state_->use(target, to, bytes);
  std::memmove(out, in, bytes);
  if (target < 0) return;
  const Window& window = window_of(target);
  std::uint8_t* marks = window.written + (to - window.begin);
  if (source == host) {
    std::memset(marks, 1, bytes);
  } else {
    const Window& other = window_of(source);
    std::memmove(marks, other.written + (from - other.begin), bytes);
  }
}

void Memory::follow_caches(std::span<const std::size_t> cache_bytes) {
  for (const std::size_t bytes : cache_bytes) state_->caches.emplace_back(bytes);
}

void Memory::use_by_kernel(std::span<const std::byte> parameters) {
  if (state_->caches.empty()) return;
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= parameters.size();
       at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, parameters.data() + at, sizeof word);
    const auto allocation = find(word);
    if (allocation) state_->use(allocation->owner, allocation->begin, allocation->bytes);
  }
}

std::size_t Memory::cached_bytes(std::uintptr_t address, std::size_t bytes) const {
  if (state_->caches.empty()) throw std::logic_error("caches are not followed");
  const std::lock_guard lock(state_->cache_mutex);
  return state_->caches.at(static_cast<std::size_t>(state_->owner_of(address)))
      .present_bytes(address, bytes);
}

const Memory::Window& Memory::window_of(int owner) const {
  return state_->windows[state_->index_of(owner)];
}
std::uint64_t Memory::generation() const {
  return state_->generation.load(std::memory_order_acquire);
}

std::string Memory::describe(std::uintptr_t address) const {
  const std::shared_lock lock(state_->mutex);
  const int owner = state_->owner_of(address);
  if (owner == host) {
    if (const auto allocation = state_->find(address))
      return fmt::format("in {} bytes at {:#x} of pinned host memory", allocation->bytes,
                         allocation->begin);
    if (address < 4096) return "next to a null pointer";
    return "neither a GPU's address nor in pinned host memory";
  }
  const Part& part = state_->parts[state_->index_of(owner)];
  const std::string name = owner == managed ? "managed memory" : fmt::format("GPU {}", owner);
  const auto tell = [&](const Ranges::value_type& range, bool is_freed) {
    const auto pooled = part.pooled.find(range.first);
    const bool is_ready = pooled == part.pooled.end() || pooled->second.is_ready;
    return fmt::format("{} bytes at {:#x} of {}{}", range.second, range.first, name,
                       is_freed    ? ", freed"
                       : !is_ready ? ", to whose allocation its stream has not come"
                                   : "");
  };
  std::string text = fmt::format("in the part of {}, where nothing was allocated", name);
  std::uintptr_t nearest = ~std::uintptr_t{0};
  for (const bool is_freed : {false, true}) {
    const Ranges& ranges = is_freed ? part.freed : part.live;
    if (const auto* before = range_before(ranges, address)) {
      const std::uintptr_t offset = address - before->first;
      if (offset < before->second)
        return fmt::format("at byte {} of {}", offset, tell(*before, is_freed));
      const std::uintptr_t distance = offset - before->second;
      if (distance < nearest) {
        nearest = distance;
        text = distance == 0
                   ? fmt::format("just past the end of {}", tell(*before, is_freed))
                   : fmt::format("{} bytes past the end of {}", distance, tell(*before, is_freed));
      }
    }
    const auto after = ranges.upper_bound(address);
    if (after != ranges.end() && after->first - address < nearest) {
      nearest = after->first - address;
      text = fmt::format("{} bytes before {}", nearest, tell(*after, is_freed));
    }
  }
  return text;
}

std::uint64_t Memory::next_launch() {
  const std::uint64_t number = state_->launch.fetch_add(1) % launches + 1;
  if (number == 1) {
    const std::unique_lock lock(state_->mutex);
    for (Part& part : state_->parts) {
      part.stamps.clear(0, part.stamps.size());
      part.byte_stamps.clear(0, part.byte_stamps.size());
    }
  }
  return number;
}

}  // namespace emulator
