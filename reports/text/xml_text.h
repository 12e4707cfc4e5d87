#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Escapes text for XML 1.0 elements and attributes in quotes: markup, tabs and line breaks
/// (attributes would lose them). Control characters and invalid UTF-8, which XML cannot hold,
/// become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace assay
