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

/// The character at the start of a text that is not empty; nothing where its bytes are no UTF-8
/// (RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF).
std::optional<Utf8Character> first_character(std::string_view text);

/// The text with U+FFFD in place of each NUL and each byte that is no UTF-8. Messages of libraries
/// and names of processes may hold any bytes; files that promise UTF-8 may not.
std::string valid_utf8(std::string_view text);

/// Whether `valid_utf8` would leave the text as it is.
bool is_valid_utf8(std::string_view text);

/// No longer than `limit` bytes, and not cut within a character.
std::string_view cut_utf8(std::string_view text, std::size_t limit);

}  // namespace assay
