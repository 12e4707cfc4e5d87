#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Candidates within a third of `text`'s length in edit distance, nearest first, at most three.
std::vector<std::string> nearest(std::string_view text, std::span<const std::string> candidates);

/// "unknown suite 'lineer'; did you mean 'linear'? Valid: allreduce, linear, ..." in one line.
std::string unknown_name(std::string_view what, std::string_view text,
                         std::span<const std::string> valid);

/// Splits at every `separator`; "a,,b" has three parts, "" has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(std::span<const std::string> parts, std::string_view separator);

}  // namespace assay
