#include "emulator/runtime/visibility.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace emulator {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int> named(std::string_view entry, const std::vector<int>& order,
                         const std::vector<std::string>& uuids) {
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) {
    std::optional<int> found;
    for (std::size_t gpu = 0; gpu < uuids.size(); ++gpu) {
      if (!uuids[gpu].starts_with(entry)) continue;
      if (found) return std::nullopt;
      found = static_cast<int>(gpu);
    }
    return found;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc{} || end != entry.data() + entry.size() || index >= order.size()) {
    return std::nullopt;
  }
  return order[index];
}

}  // namespace

std::vector<int> visible_gpus(const char* mask, const std::vector<int>& order,
                              const std::vector<std::string>& uuids) {
  if (mask == nullptr) return order;
  std::vector<int> visible;
  std::string_view rest(mask);
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = rest.find(',');
    is_last = comma == std::string_view::npos;
    const auto gpu = named(trimmed(rest.substr(0, comma)), order, uuids);
    if (!gpu) break;
    if (std::ranges::find(visible, *gpu) != visible.end()) return {};
    visible.push_back(*gpu);
    if (!is_last) rest.remove_prefix(comma + 1);
  }
  return visible;
}

std::vector<int> device_order(const char* cuda_device_order, int gpus, int fastest) {
  std::vector<int> order(static_cast<std::size_t>(gpus));
  std::iota(order.begin(), order.end(), 0);
  const bool by_bus =
      cuda_device_order != nullptr && std::string_view(cuda_device_order) == "PCI_BUS_ID";
  if (!by_bus && fastest > 0 && fastest < gpus) {
    std::rotate(order.begin(), order.begin() + fastest, order.begin() + fastest + 1);
  }
  return order;
}

}  // namespace emulator
