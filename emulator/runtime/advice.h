#pragma once

#include <cuda_runtime_api.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace emulator {

/// A place where managed memory may lie. cudaMemLocationTypeInvalid: none.
struct Location {
  int type = cudaMemLocationTypeInvalid;
  int id = cudaInvalidDeviceId;
  auto operator<=>(const Location&) const = default;
};

/// What the program has said about a page of managed memory. It moves nothing here: memory is
/// coherent wherever it lies, and only questions about it show the difference.
struct Advice {
  bool is_read_mostly = false;
  Location preferred, prefetched;
  std::set<Location> accessed_by;
};

/// Advice by address, whole pages at a time.
class AdviceMap {
 public:
  void change(std::uintptr_t address, std::size_t bytes, const std::function<void(Advice&)>& to);
  void forget(std::uintptr_t address, std::size_t bytes);
  /// What the program has said about each part of the range.
  std::vector<Advice> of(std::uintptr_t address, std::size_t bytes) const;

 private:
  /// Lets a part begin at the address.
  void split(std::uintptr_t address);
  std::map<std::uintptr_t, Advice> parts_;  // by their begin; each goes on to the next
};

}  // namespace emulator
