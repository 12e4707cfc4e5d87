#pragma once

#include <cstddef>

namespace assay::cpu {

/// Size of a huge page of x86-64, and of most other systems with base pages of 4 KiB.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// A separate mapping, aligned to huge pages, for which the kernel was asked for transparent huge
/// pages. Touched, because the kernel chooses the pages at the first touch.
class HugePageMapping {
 public:
  /// Throws DeviceError(out_of_memory), and DeviceError(not_here) if the kernel gave no huge page.
  explicit HugePageMapping(std::size_t bytes);
  ~HugePageMapping();
  HugePageMapping(const HugePageMapping&) = delete;
  HugePageMapping& operator=(const HugePageMapping&) = delete;

  void* data() const { return data_; }

 private:
  void* reserved_;
  std::size_t reserved_bytes_;
  void* data_;
};

/// Share, 0 to 1, of the mapping that contains `address` that is on huge pages, by
/// /proc/self/smaps.
double huge_page_share(const void* address);

}  // namespace assay::cpu
