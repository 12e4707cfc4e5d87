#include "emulator/machine/cache.h"

#include <algorithm>
#include <utility>

namespace emulator {
namespace {

constexpr std::uintptr_t line_bytes = 128;

std::uintptr_t line_at(std::uintptr_t address) { return address / line_bytes * line_bytes; }

}  // namespace

void Cache::use(std::uintptr_t begin, std::size_t bytes) {
  if (bytes == 0) return;
  const Lines now{line_at(begin), line_at(begin + bytes - 1) + line_bytes};
  std::vector<Lines> kept;
  for (const Lines& old : used_) {
    const Lines before{old.begin, std::min(old.end, now.begin)};
    const Lines after{std::max(old.begin, now.end), old.end};
    if (before.begin < before.end) kept.push_back(before);
    if (after.begin < after.end) kept.push_back(after);
  }
  kept.push_back(now);
  std::size_t held_bytes = 0;
  auto oldest = kept.end();
  while (oldest != kept.begin() && held_bytes < capacity_bytes_) {
    --oldest;
    held_bytes += oldest->end - oldest->begin;
  }
  if (held_bytes > capacity_bytes_) oldest->begin += held_bytes - capacity_bytes_;
  kept.erase(kept.begin(), oldest);
  used_ = std::move(kept);
}

std::size_t Cache::present_bytes(std::uintptr_t begin, std::size_t bytes) const {
  std::size_t present = 0;
  for (const Lines& lines : used_) {
    const std::uintptr_t from = std::max(lines.begin, begin);
    const std::uintptr_t to = std::min(lines.end, begin + bytes);
    if (from < to) present += to - from;
  }
  return present;
}

}  // namespace emulator
