#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

#include "harness/records/printable.h"
#include "session/console/terminal.h"

// Text for a person. Text arguments may be foreign: they are shown on one line, without control
// characters that a terminal or a CI system would obey.
namespace assay {

template <class T>
auto shown(const T& argument) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    return printable(argument);
  } else {
    return argument;
  }
}

template <class... Arguments>
std::string message(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  return fmt::format(fmt::runtime(fmt::string_view(format)), shown(arguments)...);
}

/// Prints on standard error. A closed or full standard error ends no run: the files matter.
template <class... Arguments>
void say(fmt::format_string<const Arguments&...> format, const Arguments&... arguments) {
  std::fputs(fitted(message<const Arguments&...>(format, arguments...)).c_str(), stderr);
  std::fflush(stderr);
}

/// Prints a text of several lines on standard error.
inline void say_text(std::string_view text) {
  std::fputs(fitted(printable_lines(text)).c_str(), stderr);
  std::fflush(stderr);
}

/// Prints data (JSON, CSV) unchanged on standard output. The program checks at its end whether they
/// arrived, so that a verdict is not lost with its listing.
inline void show_data(std::string_view data, std::FILE* to = stdout) {
  std::fwrite(data.data(), 1, data.size(), to);
}

/// Prints requested text for a person.
template <class... Arguments>
void show(std::FILE* to, fmt::format_string<const Arguments&...> format,
          const Arguments&... arguments) {
  show_data(message<const Arguments&...>(format, arguments...), to);
}

template <class... Arguments>
void show(fmt::format_string<const Arguments&...> format, const Arguments&... arguments) {
  show(stdout, format, arguments...);
}

/// Prints a text of several lines on standard output.
inline void show_text(std::string_view text) { show_data(printable_lines(text)); }

}  // namespace assay
