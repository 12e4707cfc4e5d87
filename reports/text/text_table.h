#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Sets cells in columns as wide as their widest cell, two spaces apart. `alignment` has a '<' or a
/// '>' for each column; the last is never padded. Control characters are shown, not obeyed.
std::string text_table(std::span<const std::vector<std::string>> lines, std::string_view alignment);

}  // namespace assay
