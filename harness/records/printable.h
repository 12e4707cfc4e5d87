#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Text of others (a worker, a driver, a file, a name on the command line) on one line of a
/// terminal or of a log. Control characters, C1 and line ends among them, and bytes that are no
/// UTF-8 become \xNN: they could move the cursor, change the title or forge a line. So does one
/// character of what CI systems take for a command: "::error::" where the text begins, "##[" and
/// "##vso[" anywhere.
std::string printable(std::string_view text);

/// Escapes a text of several lines: line ends (LF, CR LF) are kept.
std::string printable_lines(std::string_view text);

}  // namespace assay
