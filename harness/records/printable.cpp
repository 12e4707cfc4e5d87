#include "harness/records/printable.h"

#include <fmt/format.h>

#include "kernels/core/utf8.h"

namespace assay {
namespace {

std::string escaped_byte(char byte) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

/// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs: the runner
/// accepts the first two forms, the first also after blanks. Azure Pipelines accepts the third.
bool is_command(std::string_view rest, bool only_blanks_before) {
  return (only_blanks_before && rest.starts_with("::")) || rest.starts_with("##[") ||
         rest.starts_with("##vso[");
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  bool only_blanks = true;
  while (!text.empty()) {
    const auto character = first_character(text);
    const std::string_view bytes = text.substr(0, character ? character->length : 1);
    if (!character || is_control(character->code) || is_command(text, only_blanks)) {
      for (const char byte : bytes) shown += escaped_byte(byte);
    } else {
      shown += bytes;
    }
    only_blanks = only_blanks && bytes == " ";
    text.remove_prefix(bytes.size());
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool has_return = end != std::string_view::npos && line.ends_with('\r');
    if (has_return) line.remove_suffix(1);
    shown += printable(line);
    if (has_return) shown += '\r';
    if (end != std::string_view::npos) shown += '\n';
  }
  return shown;
}

}  // namespace assay
