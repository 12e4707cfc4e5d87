#include "reports/text/sections.h"

#include <fmt/format.h>

#include "harness/records/printable.h"
#include "reports/text/markdown.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

constexpr std::size_t cell_bytes = 300;

std::string left_out(const Section& section) {
  return fmt::format("and {} more: {}", section.left_out, section.left_out_are_in);
}

/// Shows foreign text on one line of a terminal, cut like the cells of Markdown.
std::vector<std::string> plain_cells(const std::vector<std::string>& cells) {
  std::vector<std::string> plain;
  for (const std::string& cell : cells) plain.push_back(one_line(cell, cell_bytes));
  return plain;
}

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    result += "  " + text.substr(at, end - at);
    at = end;
  }
  return result;
}

std::string markdown_table(const Section& section) {
  std::vector<std::string> rule;
  for (const char side : section.alignment) rule.emplace_back(side == '>' ? "--:" : ":--");
  std::string text = "\n" + markdown_row(section.header) + "\n" + markdown_row(rule) + "\n";
  for (const auto& row : section.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(markdown_text(cell, cell_bytes));
    text += markdown_row(cells) + "\n";
  }
  return text;
}

}  // namespace

std::string sections_text(std::span<const Section> sections) {
  std::string text;
  for (const Section& section : sections) {
    text += section.title + "\n";
    for (const std::string& line : section.lines) text += "  " + one_line(line, cell_bytes) + "\n";
    if (!section.header.empty()) {
      std::vector<std::vector<std::string>> table{section.header};
      for (const auto& row : section.rows) table.push_back(plain_cells(row));
      text += indented(text_table(table, section.alignment));
    }
    if (section.left_out > 0) text += "  " + left_out(section) + "\n";
    for (const std::string& command : section.commands) text += "  " + printable(command) + "\n";
    text += "\n";
  }
  return text;
}

std::string sections_markdown(std::span<const Section> sections) {
  std::string text;
  for (const Section& section : sections) {
    text += "## " + markdown_text(section.title) + "\n\n";
    for (const std::string& line : section.lines) text += markdown_text(line) + "\n";
    if (!section.header.empty()) text += markdown_table(section);
    if (section.left_out > 0) text += "\n" + left_out(section) + "\n";
    if (!section.commands.empty()) {
      text += "\n```\n";
      for (const std::string& command : section.commands) text += printable(command) + "\n";
      text += "```\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace assay
