#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Makes foreign text (of a worker, a driver, a file, the command line) safe for one line of a
/// terminal or log. Control characters, including C1 and line ends, and bytes that are not UTF-8
/// become \xNN: they could move the cursor, change the title or forge a line. CI commands lose one
/// character the same way: "::error::" at the start of the text, "##[" and "##vso[" anywhere.
std::string printable(std::string_view text);

/// Escapes a text of several lines: line ends (LF, CR LF) are kept.
std::string printable_lines(std::string_view text);

}  // namespace assay
