#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"
#include "suites/growth.h"
#include "suites/suite.h"

namespace assay {

/// "NAME=V1,V2,...": new values for one parameter, or for "dtype", of every suite that has it.
struct AxisOverride {
  std::string text;  // as given, for error messages
  std::string name;
  std::vector<std::string> values;
};

/// Throws UsageError that names the column of the mistake.
AxisOverride parse_axis(std::string_view text);

/// Limit on the cases that `expand` makes. So many run for days, and each takes about a kilobyte.
inline constexpr std::size_t max_cases = 100'000;

/// Returns every case of the grids up to `level` whose id is wanted. Overrides replace the grids'
/// own values; a parameter with values from the user does not grow. Leaves out cases whose
/// parameters do not go together.
/// Throws UsageError for a name that no op of the suites has, a value that an op refuses, and more
/// than `max_cases` cases.
std::vector<Case> expand(std::span<const Suite* const> suites, Level level,
                         std::span<const AxisOverride> overrides, const Growth& growth,
                         const std::function<bool(const std::string&)>& wanted);

}  // namespace assay
