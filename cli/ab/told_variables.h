#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// The value of a variable of one side of `assay ab` as reports, which are shown around, may give
/// it: as it is where the variable is a search path, or one that every run records; others may hold
/// secrets, and "(not told)" stands in their place.
std::string told_value(std::string_view name, std::string_view value);

/// The words of a command, with such values of --base-env and --cand-env.
std::vector<std::string> told_words(std::vector<std::string> words);

}  // namespace assay::cli
