#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Why a trial was impossible. The names in text are those of the enumerators.
enum class SkipCategory {
  too_few_devices,    // all that is skipped when a run is planned
  too_little_memory,  // of the host
  not_here,           // the device or the host lacks it, and is known to
  unsupported,        // a library is missing, or refused it
  not_built,          // a worker of another build has no such case
};

std::span<const SkipCategory> all_skip_categories();
std::string_view name(SkipCategory category);
inline std::span<const SkipCategory> enumerators(SkipCategory /*of*/) {
  return all_skip_categories();
}

/// "too few devices: 4 ranks on 2": how a row says it to people.
std::string skip_reason(SkipCategory category, std::string_view why);

/// Whether a machine that is right must skip the trial too.
constexpr bool is_limit(SkipCategory category) { return category <= SkipCategory::not_here; }

}  // namespace assay
