#include "reports/text/xml_text.h"

#include "kernels/core/utf8.h"

namespace assay {
namespace {

/// Section 2.2 of XML 1.0, production Char, without the control characters that its note
/// discourages: terminals obey them. Surrogates are no UTF-8 in the first place.
bool is_legal(std::uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  if (code >= 0x7F && code < 0xA0) return false;
  return code != 0xFFFE && code != 0xFFFF;
}

std::string_view escape(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      return {};
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const auto character = first_character(text);
    const std::string_view escaped = escape(text.front());
    if (!character || !is_legal(character->code)) {
      xml += "\xEF\xBF\xBD";
    } else {
      xml += escaped.empty() ? text.substr(0, character->length) : escaped;
    }
    text.remove_prefix(character ? character->length : 1);
  }
  return xml;
}

}  // namespace assay
