#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Returns the text as valid UTF-8 on one line, without control characters
/// (harness/records/printable.h), cut after `limit` bytes.
std::string one_line(std::string_view text, std::size_t limit);

/// Returns text that Markdown shows unchanged, on one line. Cut after `limit` bytes.
std::string markdown_text(std::string_view text, std::size_t limit = 300);

/// Returns text in a code span, on one line, whatever backticks it holds.
std::string markdown_code(std::string_view text);

/// Returns "| a | b |". The cells are Markdown already, but their pipes are escaped: a table is
/// split at bare pipes first, even within code.
std::string markdown_row(std::span<const std::string> cells);

}  // namespace assay
