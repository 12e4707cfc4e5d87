#include "kernels/cpu/caches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

std::map<int, std::int64_t> cache_bytes() {
  namespace fs = std::filesystem;
  std::map<int, std::int64_t> bytes;
  std::set<std::pair<int, std::string>> seen;  // level, and the processors that share a cache
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    for (const auto& cache : fs::directory_iterator(entry.path() / "cache", error)) {
      const auto read = [&](const char* file, auto value) {
        std::ifstream(cache.path() / file) >> value;
        return value;
      };
      const int level = read("level", 0);
      const auto kib = read("size", std::int64_t{0});  // "32768K"
      const std::string sharers = read("shared_cpu_list", std::string());
      if (level <= 0 || kib <= 0 || sharers.empty()) continue;
      if (read("type", std::string()) == "Instruction") continue;
      if (seen.emplace(level, sharers).second) bytes[level] += kib << 10;
    }
  }
  return bytes;
}

std::optional<std::int64_t> last_level_cache_bytes() {
  const std::map<int, std::int64_t> bytes = cache_bytes();
  if (bytes.empty() || bytes.rbegin()->first < 2) return std::nullopt;
  return bytes.rbegin()->second;
}

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
