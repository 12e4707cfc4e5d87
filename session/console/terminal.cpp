#include "session/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace assay {
namespace {

/// Characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

void add_wrapped(std::string& out, std::string_view line, std::size_t columns) {
  constexpr std::string_view of_command = "    ";
  if (width_of(line) <= columns || line.starts_with(of_command) || line.starts_with('\r')) {
    out += line;
    return;
  }
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t used = 0;  // columns of this line
  for (std::size_t at = 0; at < line.size();) {
    // A word and the spaces before it.
    const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const std::size_t width = width_of(line.substr(at, end - at));
    if (used > 0 && used + width > columns) {
      out += "\n" + std::string(indent + 2, ' ');
      out += word;
      used = indent + 2 + width_of(word);
    } else {
      out += line.substr(at, end - at);
      used += width;
    }
    at = end;
  }
}

}  // namespace

bool has_colour(std::FILE* to) {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !is_set("NO_COLOR") && !is_dumb && isatty(fileno(to)) != 0;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add_wrapped(out, text.substr(at, end - at), columns);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string fitted(std::string text) {
  return isatty(STDERR_FILENO) != 0 ? wrapped(text, terminal_columns()) : text;
}

}  // namespace assay
