#include "reports/page/find_sweep.h"

#include <utility>

namespace assay::page {

std::vector<std::size_t> find_sweep(const std::vector<Sizes>& trials) {
  // Trials by the size that changes and the sizes that do not.
  std::map<std::pair<std::string, Sizes>, std::map<std::string, std::size_t>> groups;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const auto& [name, value] : trials[i]) {
      Sizes others = trials[i];
      others.erase(name);
      groups[{name, std::move(others)}].emplace(value, i);
    }
  }
  std::vector<std::size_t> sweep;
  for (const auto& [key, indices] : groups) {
    if (indices.size() < min_sweep || indices.size() <= sweep.size()) continue;
    sweep.clear();
    for (const auto& [value, index] : indices) sweep.push_back(index);
  }
  return sweep;
}

}  // namespace assay::page
