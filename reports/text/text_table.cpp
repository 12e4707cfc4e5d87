#include "reports/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/printable.h"

namespace assay {
namespace {

/// Counts columns on the screen: a character of UTF-8 has one first byte.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string text_table(std::span<const std::vector<std::string>> lines,
                       std::string_view alignment) {
  std::vector<std::size_t> widths(alignment.size());
  std::vector<std::vector<std::string>> table(lines.begin(), lines.end());
  for (auto& line : table) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = printable(line[i]);
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  std::string text;
  for (const auto& line : table) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - width_of(line[i]), ' ');
      if (i > 0) row += "  ";
      row += alignment[i] == '>' ? padding + line[i] : line[i] + padding;
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace assay
