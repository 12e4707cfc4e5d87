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

constexpr std::size_t alignment = 256;
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

struct Gpu {
  // Twice the capacity: freed addresses stay unused until the other half has been.
  explicit Gpu(std::size_t capacity_bytes)
      : capacity(capacity_bytes),
        span(align_up(2 * capacity_bytes + (std::size_t{64} << 20), red_zone)),
        addresses(span, Reservation::Use::addresses_only),
        view(span, Reservation::Use::zeros),
        written(span, Reservation::Use::zeros),
        stamps(span * stamp_bytes, Reservation::Use::zeros),
        byte_stamps(span * byte_stamp_bytes, Reservation::Use::zeros),
        next(addresses.address() + red_zone) {}

  std::size_t capacity, span;
  std::size_t used = 0;
  Reservation addresses, view, written, stamps, byte_stamps;
  std::unique_ptr<bool> has_byte_stamps = std::make_unique<bool>(false);
  std::uintptr_t next;
  Ranges live, freed;  // freed: until another one takes the place

  std::uintptr_t begin() const { return addresses.address(); }
  std::uintptr_t end() const { return begin() + span; }
};

}  // namespace

struct Memory::State {
  mutable std::shared_mutex mutex;
  std::vector<Gpu> gpus;
  std::vector<Window> windows;
  Ranges host_ranges;
  std::vector<std::vector<std::uint8_t>> peers;
  std::atomic<std::uint64_t> generation{1};
  std::atomic<std::uint64_t> launch{0};
  std::mutex cache_mutex;
  std::vector<Cache> caches;  // empty: not followed

  void use(int gpu, std::uintptr_t address, std::size_t bytes) {
    if (gpu == host || caches.empty()) return;
    const std::lock_guard lock(cache_mutex);
    caches[static_cast<std::size_t>(gpu)].use(address, bytes);
  }

  int gpu_of(std::uintptr_t address) const {
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (address >= windows[i].begin && address < windows[i].end) return static_cast<int>(i);
    return host;
  }

  std::optional<Allocation> find(std::uintptr_t address) const {
    const int gpu = gpu_of(address);
    if (gpu != host) {
      const auto* range = range_before(gpus[static_cast<std::size_t>(gpu)].live, address);
      if (range == nullptr || address - range->first >= range->second) return std::nullopt;
      return Allocation{range->first, range->second, gpu};
    }
    const auto* range = range_before(host_ranges, address);
    if (range == nullptr || address - range->first >= range->second) return std::nullopt;
    return Allocation{range->first, range->second, host};
  }

  /// The first place from `from` on that keeps its distance from all live ranges.
  std::uintptr_t free_place(const Gpu& gpu, std::uintptr_t from, std::size_t bytes) const {
    std::uintptr_t place = from;
    if (const auto* before = range_before(gpu.live, from))
      place = std::max(place, align_up(before->first + before->second + red_zone, alignment));
    for (auto range = gpu.live.upper_bound(from); range != gpu.live.end(); ++range) {
      if (place + bytes + red_zone <= range->first) break;
      place = align_up(range->first + range->second + red_zone, alignment);
    }
    return place + bytes + red_zone <= gpu.end() ? place : 0;
  }
};

Memory::Memory(std::span<const std::size_t> gpu_bytes) : state_(std::make_unique<State>()) {
  state_->gpus.reserve(gpu_bytes.size());
  for (const std::size_t bytes : gpu_bytes) {
    const Gpu& gpu = state_->gpus.emplace_back(bytes);
    state_->windows.push_back({gpu.begin(), gpu.end(), gpu.view.data(),
                               reinterpret_cast<std::uint8_t*>(gpu.written.data()),
                               reinterpret_cast<std::uint64_t*>(gpu.stamps.data()),
                               reinterpret_cast<std::uint64_t*>(gpu.byte_stamps.data()),
                               gpu.has_byte_stamps.get()});
  }
  state_->peers.assign(gpu_bytes.size(), std::vector<std::uint8_t>(gpu_bytes.size(), 0));
}

Memory::~Memory() = default;

std::uintptr_t Memory::allocate(int gpu_index, std::size_t bytes) {
  const std::unique_lock lock(state_->mutex);
  Gpu& gpu = state_->gpus.at(static_cast<std::size_t>(gpu_index));
  // Compared before it is rounded: sizes near 2^64 must not wrap.
  if (bytes > gpu.capacity - gpu.used) return 0;
  const std::size_t charged = align_up(std::max<std::size_t>(bytes, 1), alignment);
  if (charged > gpu.capacity - gpu.used) return 0;
  std::uintptr_t place = state_->free_place(gpu, gpu.next, charged);
  if (place == 0) place = state_->free_place(gpu, gpu.begin() + red_zone, charged);
  if (place == 0) return 0;
  gpu.next = align_up(place + charged + red_zone, alignment);
  gpu.used += charged;
  const auto* before = range_before(gpu.freed, place);
  auto replaced = before == nullptr ? gpu.freed.begin() : gpu.freed.find(before->first);
  if (before != nullptr && before->first + before->second <= place) ++replaced;
  while (replaced != gpu.freed.end() && replaced->first < place + charged)
    replaced = gpu.freed.erase(replaced);
  gpu.live[place] = bytes;
  gpu.view.expect_use(place - gpu.begin(), charged);
  gpu.written.expect_use(place - gpu.begin(), charged);
  ++state_->generation;
  return place;
}

bool Memory::release(std::uintptr_t address) {
  const std::unique_lock lock(state_->mutex);
  const int index = state_->gpu_of(address);
  if (index == host) return false;
  Gpu& gpu = state_->gpus[static_cast<std::size_t>(index)];
  const auto found = gpu.live.find(address);
  if (found == gpu.live.end()) return false;
  const std::size_t charged = align_up(std::max<std::size_t>(found->second, 1), alignment);
  gpu.freed[address] = found->second;
  gpu.live.erase(found);
  gpu.used -= charged;
  const std::size_t offset = address - gpu.begin();
  gpu.view.clear(offset, charged);
  gpu.written.clear(offset, charged);
  gpu.stamps.clear(offset * stamp_bytes, charged * stamp_bytes);
  if (__atomic_load_n(gpu.has_byte_stamps.get(), __ATOMIC_RELAXED))
    gpu.byte_stamps.clear(offset * byte_stamp_bytes, charged * byte_stamp_bytes);
  ++state_->generation;
  return true;
}

std::size_t Memory::free_bytes(int gpu) const {
  const std::shared_lock lock(state_->mutex);
  const Gpu& which = state_->gpus.at(static_cast<std::size_t>(gpu));
  return which.capacity - which.used;
}

std::size_t Memory::total_bytes(int gpu) const {
  return state_->gpus.at(static_cast<std::size_t>(gpu)).capacity;
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
  return state_->gpu_of(address) != host;
}

void Memory::enable_peer(int gpu, int owner, bool enabled) {
  const std::unique_lock lock(state_->mutex);
  state_->peers.at(static_cast<std::size_t>(gpu)).at(static_cast<std::size_t>(owner)) = enabled;
  ++state_->generation;
}

bool Memory::may_use(int gpu, int owner) const {
  if (gpu == host || owner == host || gpu == owner) return true;
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
  const int owner = state_->gpu_of(address);
  if (owner == host && gpu == host) return reinterpret_cast<std::byte*>(address);
  const auto allocation = find(address);
  if (!allocation) throw fault(FaultKind::illegal_address, "no allocation holds the address");
  if (bytes > allocation->bytes - (address - allocation->begin))
    throw fault(FaultKind::illegal_address, "the allocation ends before");
  if (!may_use(gpu, owner))
    throw fault(FaultKind::illegal_address,
                fmt::format("GPU {} has no peer access to GPU {}", gpu, owner));
  if (owner == host) return reinterpret_cast<std::byte*>(address);
  const Window& window = state_->windows[static_cast<std::size_t>(owner)];
  const std::size_t offset = address - window.begin;
  if (needs_written(access) && !is_initialised(address, bytes))
    throw fault(FaultKind::uninitialised_read, "nothing has written all of them");
  if (access == Access::write || access == Access::atomic)
    std::memset(window.written + offset, 1, bytes);
  state_->use(owner, address, bytes);
  return window.view + offset;
}

bool Memory::is_initialised(std::uintptr_t address, std::size_t bytes) const {
  const int owner = state_->gpu_of(address);
  if (owner == host) return true;
  const Window& window = state_->windows[static_cast<std::size_t>(owner)];
  return std::memchr(window.written + (address - window.begin), 0, bytes) == nullptr;
}

void Memory::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, int gpu,
                  const std::string& what) {
  if (bytes == 0) return;
  const int source = state_->gpu_of(from), target = state_->gpu_of(to);
  const auto place = [&](std::uintptr_t address, int owner, const char* verb) {
    if (owner == host) return reinterpret_cast<std::byte*>(address);
    const auto allocation = find(address);
    if (!allocation || bytes > allocation->bytes - (address - allocation->begin) ||
        !may_use(gpu, owner))
      throw Fault(FaultKind::illegal_address,
                  fmt::format("{}: {} {} bytes at {:#x}: it is {}", what, verb, bytes, address,
                              describe(address)));
    const Window& window = state_->windows[static_cast<std::size_t>(owner)];
    return window.view + (address - window.begin);
  };
  const std::byte* in = place(from, source, "reads");
  std::byte* out = place(to, target, "writes");
  state_->use(source, from, bytes);
  state_->use(target, to, bytes);
  std::memmove(out, in, bytes);
  if (target == host) return;
  const Window& window = state_->windows[static_cast<std::size_t>(target)];
  std::uint8_t* marks = window.written + (to - window.begin);
  if (source == host) {
    std::memset(marks, 1, bytes);
  } else {
    const Window& other = state_->windows[static_cast<std::size_t>(source)];
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
  return state_->caches.at(static_cast<std::size_t>(state_->gpu_of(address)))
      .present_bytes(address, bytes);
}

std::span<const Memory::Window> Memory::windows() const { return state_->windows; }
std::uint64_t Memory::generation() const {
  return state_->generation.load(std::memory_order_acquire);
}

std::string Memory::describe(std::uintptr_t address) const {
  const std::shared_lock lock(state_->mutex);
  const int owner = state_->gpu_of(address);
  if (owner == host) {
    if (const auto allocation = state_->find(address))
      return fmt::format("in {} bytes at {:#x} of pinned host memory", allocation->bytes,
                         allocation->begin);
    if (address < 4096) return "next to a null pointer";
    return "neither a GPU's address nor in pinned host memory";
  }
  const Gpu& gpu = state_->gpus[static_cast<std::size_t>(owner)];
  const auto tell = [&](const Ranges::value_type& range, bool is_freed) {
    return fmt::format("{} bytes at {:#x} of GPU {}{}", range.second, range.first, owner,
                       is_freed ? ", freed" : "");
  };
  std::string text = fmt::format("in GPU {}'s part, where nothing was allocated", owner);
  std::uintptr_t nearest = ~std::uintptr_t{0};
  for (const bool is_freed : {false, true}) {
    const Ranges& ranges = is_freed ? gpu.freed : gpu.live;
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
    for (Gpu& gpu : state_->gpus) {
      gpu.stamps.clear(0, gpu.stamps.size());
      gpu.byte_stamps.clear(0, gpu.byte_stamps.size());
    }
  }
  return number;
}

}  // namespace emulator
