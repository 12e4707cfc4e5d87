#pragma once

#include <cstdint>
#include <functional>

namespace assay::cheats {

/// Whole pages within some memory. Their neighbours on the same page as its ends are others'.
struct Pages {
  static constexpr std::uintptr_t size = 4096;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  static Pages within(const void* memory, std::int64_t bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t begin = (first + size - 1) / size * size;
    const std::uintptr_t end = (first + static_cast<std::uintptr_t>(bytes)) / size * size;
    return {begin, begin < end ? end : begin};
  }
  bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
  bool is_empty() const { return begin == end; }
  /// Allows accesses by PROT_READ and the like.
  void protect(int accesses) const;
};

/// Calls `on_fault` with the address of each access to the pages that their protection forbids, on
/// the thread that made it, which then tries again. Ends with its lifetime.
class PageWatch {
 public:
  using OnFault = std::function<void(std::uintptr_t)>;
  PageWatch(const Pages& pages, OnFault on_fault);
  ~PageWatch();
  PageWatch(const PageWatch&) = delete;
  PageWatch& operator=(const PageWatch&) = delete;

 private:
  Pages pages_;
  OnFault on_fault_;
  friend class PageFaults;
};

}  // namespace assay::cheats
