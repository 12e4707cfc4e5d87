#pragma once

#include <string_view>

// With what the reason of a skip begins: why the trial was impossible.
namespace assay::skip_category {

inline constexpr std::string_view too_few_devices = "too few devices: ";
inline constexpr std::string_view too_little_memory = "too little memory: ";
/// The device or the host lacks it, and is known to.
inline constexpr std::string_view not_here = "not here: ";
/// A library is missing, or refused it.
inline constexpr std::string_view unsupported = "unsupported: ";
/// A worker of another build has no such case.
inline constexpr std::string_view not_built = "not built: ";

/// Whether a machine that is right must skip the trial too.
inline bool is_limit(std::string_view reason) {
  for (const std::string_view category : {too_few_devices, too_little_memory, not_here}) {
    if (reason.starts_with(category)) return true;
  }
  return false;
}

}  // namespace assay::skip_category
