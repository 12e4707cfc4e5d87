#include "harness/input/first_difference.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/core/parallel.h"

namespace assay::input {

std::optional<std::size_t> first_difference(std::span<const std::byte> a,
                                            std::span<const std::byte> b) {
  // Compares long runs first: single bytes would take as long as the op.
  std::atomic<bool> differs = false;
  parallel_runs(std::ssize(a), 1 << 18, [&](std::int64_t first, std::int64_t count) {
    const auto at = static_cast<std::size_t>(first);
    if (std::memcmp(&a[at], &b[at], static_cast<std::size_t>(count)) != 0) differs = true;
  });
  if (!differs) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace assay::input
