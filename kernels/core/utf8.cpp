#include "kernels/core/utf8.h"

#include <array>

namespace assay {

std::optional<Utf8Character> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return Utf8Character{first, 1};
  if (first < 0xC2 || first > 0xF4) return std::nullopt;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() < length) return std::nullopt;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return std::nullopt;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least.at(length) || code > 0x10FFFF || surrogate) return std::nullopt;
  return Utf8Character{code, length};
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto character = first_character(text);
    const bool legal = character && character->code != 0;
    valid += legal ? text.substr(0, character->length) : "\xEF\xBF\xBD";
    text.remove_prefix(character ? character->length : 1);
  }
  return valid;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto character = first_character(text);
    if (!character || character->code == 0) return false;
    text.remove_prefix(character->length);
  }
  return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
  return text.substr(0, limit);
}

}  // namespace assay
