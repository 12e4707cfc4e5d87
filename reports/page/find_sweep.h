#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay::page {

/// A line claims the values between its points: fewer sizes are shown as points.
inline constexpr std::size_t min_sweep = 5;

/// Sizes of a trial: {"batch": "64", "in": "2048"}.
using Sizes = std::map<std::string, std::string, std::less<>>;

/// Returns the places of the most trials that differ in a single size, each in its value of it, if
/// there are `min_sweep` or more.
std::vector<std::size_t> find_sweep(const std::vector<Sizes>& trials);

}  // namespace assay::page
