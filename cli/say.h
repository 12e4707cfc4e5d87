#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace assay::cli {

/// Tells a person something on standard error. A closed or full standard error ends no run: what
/// matters is in the files.
inline void say_text(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// What was asked for. Whether it arrived is seen when the program ends, so that a verdict is not
/// lost with its listing.
template <class... Arguments>
void show(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), to);
}

template <class... Arguments>
void show(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  show(stdout, format, std::forward<Arguments>(arguments)...);
}

}  // namespace assay::cli
