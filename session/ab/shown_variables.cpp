#include "session/ab/shown_variables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "session/life/describe_run.h"

namespace assay {
namespace {

constexpr auto search_paths =
    std::to_array<std::string_view>({"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"});

bool is_option(std::string_view word) { return word == "--base-env" || word == "--cand-env"; }

std::string shown_variable(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::string(text);
  const std::string_view name = text.substr(0, equals);
  return std::string(name) + "=" + shown_value(name, text.substr(equals + 1));
}

}  // namespace

std::string shown_value(std::string_view name, std::string_view value) {
  const bool is_shown = std::ranges::find(search_paths, name) != search_paths.end() ||
                        std::ranges::find(recorded_variables(), name) != recorded_variables().end();
  return is_shown ? std::string(value) : "(not told)";
}

std::vector<std::string> shown_words(std::vector<std::string> words) {
  bool is_variable = false;  // set by the word before
  for (std::string& word : words) {
    const bool follows = std::exchange(is_variable, is_option(word));
    const std::size_t equals = word.find('=');
    if (follows) {
      word = shown_variable(word);
    } else if (equals != std::string::npos && is_option(word.substr(0, equals))) {
      word = word.substr(0, equals + 1) + shown_variable(std::string_view(word).substr(equals + 1));
    }
  }
  return words;
}

}  // namespace assay
