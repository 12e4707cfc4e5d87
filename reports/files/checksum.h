#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Returns the CRC-32 of gzip and zip, as eight hexadecimal digits. It shows accidental changes,
/// not forged ones.
std::string crc32_text(std::string_view bytes);

}  // namespace assay
