#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Returns the bytes as a gzip file (RFC 1952) without name and time: same bytes, same file.
std::string gzip(std::string_view bytes);

/// Encodes by RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace assay
