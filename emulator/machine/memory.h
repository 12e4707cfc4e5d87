#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "emulator/machine/fault.h"

namespace emulator {

/// A copy reads bytes that nothing may have written, and takes their marks along; so does a load.
enum class Access { read, load, write, atomic, exchange, copy };

inline bool is_read(Access access) { return access == Access::read || access == Access::load; }
inline bool needs_written(Access access) {
  return access == Access::read || access == Access::atomic;
}

/// GPUs by their physical index; `host` is memory of the host that GPUs may use (cudaHostAlloc,
/// cudaHostRegister).
inline constexpr int host = -1;
/// Managed memory belongs to no GPU: the host and all GPUs use it at one address.
inline constexpr int managed = -2;

/// A bit for each GPU.
using GpuSet = std::uint64_t;

struct Allocation {
  std::uintptr_t begin;
  std::size_t bytes;
  int owner;               // a GPU, `host` or `managed`
  bool is_ready = true;    // false: the stream that allocates it has not come so far
  bool is_pooled = false;  // its pool says which GPUs may use it, not peer access
  GpuSet pool_users = 0;
};

/// The one address space of all GPUs and of pinned host memory. Each GPU's part is reserved without
/// access for the host; `view` gives the bytes behind it. Managed memory has a part of its own,
/// where the host has access to what is allocated. A shadow knows which bytes are allocated and
/// which have been written. Thread-safe.
class Memory {
 public:
  /// The capacity of each GPU.
  explicit Memory(std::span<const std::size_t> gpu_bytes);
  ~Memory();

  /// Returns 0 when the GPU is full. Aligned to 256 bytes; nothing in it counts as written.
  /// Neighbours lie apart, and freed addresses come back late, so that a use after free or past the
  /// end hits nothing.
  std::uintptr_t allocate(int gpu, std::size_t bytes);
  /// Returns false for an address that no allocation begins at.
  bool release(std::uintptr_t address);
  /// Managed memory in whole pages. All of it counts as written for ever: nothing tells what the
  /// host writes. Returns 0 when there is none left.
  std::uintptr_t allocate_managed(std::size_t bytes);
  /// Memory of a pool. Nothing may use it until `set_ready`, by which a stream tells that it has
  /// come to the allocation; without being ready its bytes are lost.
  std::uintptr_t allocate_pooled(int gpu, std::size_t bytes, GpuSet users);
  void set_ready(std::uintptr_t address, bool is_ready);
  void set_pool_users(std::uintptr_t address, GpuSet users);
  std::size_t free_bytes(int gpu) const;
  std::size_t total_bytes(int gpu) const;

  /// Host memory that GPUs may use from now on. All of it counts as written.
  void add_host(void* begin, std::size_t bytes);
  bool remove_host(void* begin);

  /// The live allocation that holds the address.
  std::optional<Allocation> find(std::uintptr_t address) const;
  /// Whether the address lies in a GPU's reserved part or that of managed memory, allocated or not.
  bool is_device_address(std::uintptr_t address) const;
  bool is_managed_address(std::uintptr_t address) const;

  /// Lets `gpu` use the memory of `owner`.
  void enable_peer(int gpu, int owner, bool enabled);

  /// The bytes behind [address, address + bytes) as the host can use them. Throws Fault unless they
  /// lie in one live allocation that `gpu` may use (`gpu` == host: the emulator's own copies, which
  /// may use all) and, for a read, have been written. A write marks them as written. `what` begins
  /// the fault's text: "cudaMemcpyAsync", "kernel add<float>".
  std::byte* view(std::uintptr_t address, std::size_t bytes, Access access, int gpu,
                  const std::string& what);
  /// Whether all bytes have been written.
  bool is_initialised(std::uintptr_t address, std::size_t bytes) const;
  /// A copy carries the marks of its source: copying padding is no fault, using it is.
  void copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, int gpu,
            const std::string& what);

  /// Follows from now on what each GPU's second-level cache, of this capacity, holds: copies,
  /// memsets and libraries use their bytes, kernels the allocations that their parameters name.
  void follow_caches(std::span<const std::size_t> cache_bytes);
  /// Tells that a kernel with these parameters runs.
  void use_by_kernel(std::span<const std::byte> parameters);
  /// How many of the bytes the cache of their GPU holds. Throws std::logic_error unless caches are
  /// followed.
  std::size_t cached_bytes(std::uintptr_t address, std::size_t bytes) const;

  /// A GPU's part of the address space, for the interpreter: `view[address - begin]` is the byte,
  /// `written[…]` is 1 once it has been written. The search for races (machine/global_races.h) has
  /// two stamps for every four bytes, and two for each byte.
  struct Window {
    std::uintptr_t begin, end;
    std::byte* view;
    std::uint8_t* written;
    std::uint64_t *stamps, *byte_stamps;
    bool* has_byte_stamps;  // whether the latter were ever used
    bool is_managed = false;
  };
  const Window& window_of(int owner) const;  // a GPU's or that of managed memory
  bool may_use(int gpu, const Allocation& allocation) const;
  /// Grows whenever an allocation begins or ends: what `find` told before may be wrong after it.
  std::uint64_t generation() const;
  /// Names the address by the allocation next to it: "8 bytes past the end of 256 bytes at 0x7f… of
  /// GPU 0".
  std::string describe(std::uintptr_t address) const;
  /// Numbers the launches on all GPUs, for stamps; 1 to 65535, and the stamps are cleared before a
  /// number returns.
  std::uint64_t next_launch();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace emulator
