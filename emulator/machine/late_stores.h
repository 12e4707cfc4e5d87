#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

namespace emulator {

/// Strong stores of a launch that other blocks do not see yet. Without a fence between them, two
/// stores of a thread may become visible in either order (PTX ISA, "Memory Consistency Model").
///
/// A store stays late for some reads of other blocks, and until a fence or a release of its own
/// block. Then all blocks see it. Only reads of the same bytes are late. Thread-safe.
class LateStores {
 public:
  static constexpr std::size_t max_bytes = 16;

  /// Lets the next `reads` reads find the present bytes at `address` in place of what `block`
  /// stores. `released` tells what was released there with them (GlobalRaces::released).
  void add(std::uint64_t block, std::uintptr_t address, std::span<const std::byte> present,
           unsigned reads, std::size_t released);
  /// Fills `bytes` with what `block` still finds there, and returns what was released with it. None
  /// if memory has it.
  std::optional<std::size_t> read(std::uint64_t block, std::uintptr_t address,
                                  std::span<std::byte> bytes);
  void end(std::uintptr_t address);
  void end_all_of(std::uint64_t block);

 private:
  struct Store {
    std::uint64_t block;
    unsigned reads;  // that are still late
    std::size_t bytes, released;
    std::array<std::byte, max_bytes> before;
  };
  std::atomic<bool> used_{false};
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, Store> stores_;
};

}  // namespace emulator
