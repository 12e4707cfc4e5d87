#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A cell of a CSV file for spreadsheets, which compute what begins with = + - @, a tab or a
/// carriage return: text that does, and is no number, gets an apostrophe before it, and so does
/// text in which apostrophes stand before one of these, so that unguarded() can tell
/// (https://owasp.org/www-community/attacks/CSV_Injection).
std::string guarded(std::string_view cell);

/// The inverse of guarded(), for all text.
std::string_view unguarded(std::string_view cell);

}  // namespace assay
