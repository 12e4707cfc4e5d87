#include "kernels/core/names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay {
namespace {

/// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest(std::string_view text, std::span<const std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    const std::size_t allowed = std::max<std::size_t>(2, text.size() / 3);
    // A name with nothing in common is no suggestion, even if both are short.
    if (distance <= allowed && distance < std::max(text.size(), candidate.size())) {
      ranked.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    names.push_back(ranked[i].second);
  }
  return names;
}

std::string unknown_name(std::string_view what, std::string_view text,
                         std::span<const std::string> valid) {
  std::string message = "unknown " + std::string(what) + " '" + std::string(text) + "'";
  const auto suggestions = nearest(text, valid);
  if (!suggestions.empty()) message += "; did you mean '" + join(suggestions, "' or '") + "'?";
  return message + (suggestions.empty() ? "; valid: " : " Valid: ") + join(valid, ", ");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != parts.data()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace assay
