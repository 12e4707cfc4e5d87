#include "cli/terminal.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/stderr_message.h"

namespace assay::cli {
namespace {

std::string_view colour_of(std::string_view word) {
  constexpr std::string_view green = "\033[1;32m";
  constexpr std::string_view red = "\033[1;31m";
  constexpr std::string_view yellow = "\033[1;33m";
  if (word == "PASSED") return green;
  return word == "INCOMPLETE" ? yellow : red;
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

void say_verdict(std::string_view word, const std::string& why) {
  std::string text(word);
  if (has_colour(stderr)) text = std::string(colour_of(word)) + text + "\033[0m";
  std::fputs((text + ": " + message("{}", why) + "\n").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace assay::cli
