#include "harness/supervise/affinity.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "kernels/core/names.h"

namespace assay {
namespace {

bool parse(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number < CPU_SETSIZE;
}

}  // namespace

std::vector<int> parse_processors(std::string_view list) {
  std::vector<int> processors;
  for (const std::string& range : split(list, ',')) {
    const std::size_t dash = range.find('-');
    int first = 0;
    int last = 0;
    const bool is_read =
        parse(std::string_view(range).substr(0, dash), first) &&
        parse(std::string_view(range).substr(dash == std::string::npos ? 0 : dash + 1), last);
    if (!is_read || last < first) return {};
    for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
  }
  return processors;
}

std::vector<int> nearest_processors(std::span<const DeviceId> lane,
                                    std::span<const DeviceInfo> devices) {
  std::vector<int> nearest;
  for (const DeviceId& id : lane) {
    const auto device = std::ranges::find(devices, to_text(id), &DeviceInfo::device);
    if (device == devices.end()) return {};
    const std::vector<int> near = parse_processors(device->local_processors);
    if (near.empty()) return {};
    nearest.insert(nearest.end(), near.begin(), near.end());
  }
  std::ranges::sort(nearest);
  const auto repeated = std::ranges::unique(nearest);
  nearest.erase(repeated.begin(), repeated.end());
  return nearest;
}

std::vector<int> restricting(std::vector<int> processors) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return processors;
  for (const int processor : processors) CPU_CLR(static_cast<std::size_t>(processor), &usable);
  if (CPU_COUNT(&usable) == 0) processors.clear();
  return processors;
}

Affinity::Affinity(std::span<const int> processors) {
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const int processor : processors) {
    const auto at = static_cast<std::size_t>(processor);
    if (CPU_ISSET(at, &before_)) CPU_SET(at, &chosen);
  }
  is_changed_ = CPU_COUNT(&chosen) > 0 && sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

Affinity::~Affinity() {
  if (is_changed_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace assay
