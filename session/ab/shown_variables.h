#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The value of a variable of one side of `assay ab` as reports may show it. Search paths and
/// variables that every run records are shown. Others may hold secrets: "(not told)" replaces them.
std::string shown_value(std::string_view name, std::string_view value);

/// The words of a command, with such values of --base-env and --cand-env.
std::vector<std::string> shown_words(std::vector<std::string> words);

}  // namespace assay
