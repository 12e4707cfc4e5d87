#include "session/console/say_verdict.h"

#include <cstdio>

#include "session/console/stderr_message.h"
#include "session/console/terminal.h"

namespace assay {
namespace {

std::string_view colour_of(std::string_view word) {
  constexpr std::string_view green = "\033[1;32m";
  constexpr std::string_view red = "\033[1;31m";
  constexpr std::string_view yellow = "\033[1;33m";
  if (word == "PASSED") return green;
  return word == "INCOMPLETE" ? yellow : red;
}

}  // namespace

void say_verdict(std::string_view word, const std::string& why) {
  std::string text = fitted(message("{}: {}\n", word, why));
  if (has_colour(stderr)) text = std::string(colour_of(word)) + text.insert(word.size(), "\033[0m");
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace assay
