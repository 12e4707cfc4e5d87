#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // bytes
};

/// Returns the first character of a non-empty text, or nothing if its bytes are not UTF-8 (RFC
/// 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF).
std::optional<Utf8Character> first_character(std::string_view text);

/// Replaces each NUL and each byte that is not UTF-8 by U+FFFD. Library messages and process names
/// may hold any bytes; files that promise UTF-8 may not.
std::string valid_utf8(std::string_view text);

/// Returns true if `valid_utf8` would not change the text.
bool is_valid_utf8(std::string_view text);

/// Cuts the text to at most `limit` bytes, never within a character.
std::string_view cut_utf8(std::string_view text, std::size_t limit);

}  // namespace assay
