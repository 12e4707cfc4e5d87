#pragma once

#include <cstddef>

namespace assay::cpu {

/// The size of a huge page of x86-64, and of most others with base pages of 4 KiB.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Memory of its own for which the kernel was asked for transparent huge pages, aligned to them,
/// and touched, because only then does the kernel choose.
class HugePageMapping {
 public:
  /// Throws DeviceError(out_of_memory), and DeviceError(not_here) where not one huge page came.
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

/// Of the mapping of this process in which `address` lies, the share that is on huge pages: 0 to 1,
/// by /proc/self/smaps.
double huge_page_share(const void* address);

}  // namespace assay::cpu
