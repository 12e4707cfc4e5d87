#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Text for XML 1.0 elements and attributes in quotes. Markup is escaped, tabs and line breaks too
/// (attributes would lose them); what XML cannot hold, control characters and bytes that are no
/// UTF-8, becomes U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace assay
