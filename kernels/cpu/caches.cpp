#include "kernels/cpu/caches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/cpu/topology.h"

namespace assay::cpu {
namespace {

/// Default if the system does not report a last-level cache.
constexpr std::int64_t usual_cache_bytes = std::int64_t{32} << 20;

/// Upper bound of the share of each core. A virtual machine with some cores of a processor sees its
/// whole cache, although other cores use that cache too. No processor has more per core than this
/// (EPYC 72F3 and 9175F).
constexpr std::int64_t max_cache_bytes_per_core = std::int64_t{32} << 20;

/// Writes each page once: pages never written all map to one zero page.
std::vector<std::uint64_t> make_evictor() {
  const std::int64_t bytes = 2 * last_level_cache_bytes().value_or(usual_cache_bytes);
  return std::vector<std::uint64_t>(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1);
}

}  // namespace

std::optional<std::int64_t> last_level_cache_bytes() { return last_level(cache_bytes()); }

bool exceeds_caches(std::int64_t bytes) {
  static const std::int64_t share_bytes =
      std::min(last_level_cache_bytes().value_or(usual_cache_bytes),
               max_cache_bytes_per_core * std::max(1U, std::thread::hardware_concurrency()));
  return bytes >= share_bytes;
}

void evict_caches() {
  static const std::vector<std::uint64_t> evictor = make_evictor();
  const auto words = static_cast<std::int64_t>(evictor.size());
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < words; ++i) sum += evictor[static_cast<std::size_t>(i)];
  asm volatile("" : : "r"(sum));  // uses the sum: the loop is not optimised away
}

}  // namespace assay::cpu
