#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The CRC-32 of gzip and zip, as eight hexadecimal digits: shows that a file was changed, not that
/// nobody meant to hide it.
std::string crc32_text(std::string_view bytes);

}  // namespace assay
