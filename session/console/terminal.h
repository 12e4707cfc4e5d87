#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace assay {

/// Whether to colour what goes there: a terminal that is not dumb, and no NO_COLOR
/// (no-color.org).
bool has_colour(std::FILE* to);

/// Breaks lines of more than `columns` characters at spaces; what follows is indented by two more.
/// Lines of commands, which begin with four spaces, and status lines stay whole.
std::string wrapped(std::string_view text, std::size_t columns);

/// Wraps a text at the width of the terminal that standard error is; elsewhere it stays as it is.
std::string fitted(std::string text);

/// Columns of the terminal that standard error is; 80 if it does not tell.
std::size_t terminal_columns();

}  // namespace assay
