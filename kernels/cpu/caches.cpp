#include "kernels/cpu/caches.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

namespace assay::cpu {
namespace {

/// Where the system tells of no last-level cache.
constexpr std::int64_t usual_cache_bytes = std::int64_t{32} << 20;

/// Written once: pages that were never written are all the same one.
std::vector<std::uint64_t> make_evictor() {
  const std::int64_t bytes = 2 * last_level_cache_bytes().value_or(usual_cache_bytes);
  return std::vector<std::uint64_t>(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1);
}

}  // namespace

std::optional<std::int64_t> last_level_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
  std::int64_t kib = 0;
  if (file >> kib && kib > 0) return kib << 10;
  return std::nullopt;
}

bool exceeds_caches(std::int64_t bytes) {
  static const std::int64_t cache_bytes = last_level_cache_bytes().value_or(usual_cache_bytes);
  return bytes > cache_bytes;
}

void evict_caches() {
  static const std::vector<std::uint64_t> evictor = make_evictor();
  const auto words = static_cast<std::int64_t>(evictor.size());
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < words; ++i) sum += evictor[static_cast<std::size_t>(i)];
  asm volatile("" : : "r"(sum));  // somebody wants it: the loop is not left out
}

}  // namespace assay::cpu
