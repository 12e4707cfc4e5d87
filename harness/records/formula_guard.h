#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Cell of a CSV file that is safe for spreadsheets, which compute text that begins with = + - @, a
/// tab or a carriage return. Such text gets an apostrophe before it unless it is a number. Text
/// with apostrophes before one of these gets one too, so that unguarded() can tell
/// (https://owasp.org/www-community/attacks/CSV_Injection).
std::string guarded(std::string_view cell);

/// Inverse of guarded(), for all text.
std::string_view unguarded(std::string_view cell);

}  // namespace assay
