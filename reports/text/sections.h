#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One part of a report that is shown as plain text and as Markdown.
struct Section {
  std::string title;
  std::vector<std::string> lines;   // sentences below the title
  std::vector<std::string> header;  // header of the table; empty if there is none
  std::string alignment;            // '<' or '>' for each column
  std::vector<std::vector<std::string>> rows;
  std::size_t left_out = 0;           // rows that the table does not show
  std::string left_out_are_in;        // where to find them
  std::vector<std::string> commands;  // to copy into a shell
};

std::string sections_text(std::span<const Section> sections);
std::string sections_markdown(std::span<const Section> sections);

}  // namespace assay
