#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace assay::cli {

/// Whether to colour what goes there: a terminal that is not dumb, and no NO_COLOR
/// (no-color.org).
bool has_colour(std::FILE* to);

/// Prints "FAILED: why" on standard error, the word in green, red or yellow on a terminal.
void say_verdict(std::string_view word, const std::string& why);

}  // namespace assay::cli
