#include "reports/text/markdown.h"

#include <algorithm>

#include "harness/records/printable.h"
#include "kernels/core/utf8.h"

namespace assay {
namespace {

std::string on_one_line(std::string_view text) {
  std::string line = valid_utf8(text);
  std::ranges::replace_if(
      line, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
  return printable(line);
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  const std::string line = on_one_line(text);
  const std::string_view kept = cut_utf8(line, limit);
  return std::string(kept) + (kept.size() < line.size() ? "…" : "");
}

std::string markdown_text(std::string_view text, std::size_t limit) {
  constexpr std::string_view markup = "\\`*_<>[]~&";
  const std::string line = on_one_line(text);
  const std::string_view kept = cut_utf8(line, limit);
  std::string escaped;
  for (const char c : kept) {
    if (markup.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return kept.size() < line.size() ? escaped + "…" : escaped;
}

std::string markdown_code(std::string_view text) {
  const std::string line = on_one_line(text);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : line) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  // A fence longer than any run of backticks inside, set off by spaces that are not shown.
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fence + std::string(space) + line + std::string(space) + fence;
}

std::string markdown_row(std::span<const std::string> cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    for (const char c : cell) row += c == '|' ? "\\|" : std::string(1, c);
    row += " |";
  }
  return row;
}

}  // namespace assay
