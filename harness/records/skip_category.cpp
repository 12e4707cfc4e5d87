#include "harness/records/skip_category.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay {
namespace {

constexpr std::array categories{SkipCategory::too_few_devices, SkipCategory::too_little_memory,
                                SkipCategory::not_here, SkipCategory::unsupported,
                                SkipCategory::not_built};
constexpr std::array<std::string_view, categories.size()> category_names{
    "too_few_devices", "too_little_memory", "not_here", "unsupported", "not_built"};

}  // namespace

std::span<const SkipCategory> all_skip_categories() { return categories; }

std::string_view name(SkipCategory category) {
  return category_names.at(static_cast<std::size_t>(category));
}

std::string skip_reason(SkipCategory category, std::string_view why) {
  std::string reason(name(category));
  std::ranges::replace(reason, '_', ' ');
  return reason.append(": ").append(why);
}

}  // namespace assay
