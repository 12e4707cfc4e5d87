#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Reason why a trial was impossible. Texts use the names of the enumerators.
enum class SkipCategory {
  too_few_devices,    // as the plan counts them
  too_little_memory,  // of the host, or of a device whose memory others hold
  not_here,           // the device or the host is known to lack it
  unsupported,        // a library is missing, or refused it; nothing can judge it
  not_built,          // a worker of another build has no such case
};

std::span<const SkipCategory> all_skip_categories();
std::string_view name(SkipCategory category);
inline std::span<const SkipCategory> enumerators(SkipCategory /*of*/) {
  return all_skip_categories();
}

/// "too few devices: 4 ranks on 2": text of a row for people.
std::string skip_reason(SkipCategory category, std::string_view why);

/// True if a correct machine must skip the trial too.
constexpr bool is_limit(SkipCategory category) { return category <= SkipCategory::not_here; }

}  // namespace assay
