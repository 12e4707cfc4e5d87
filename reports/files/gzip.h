#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The bytes as a gzip file (RFC 1952) without a name or a time: the same bytes give the same file.
std::string gzip(std::string_view bytes);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace assay
