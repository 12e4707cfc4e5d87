#include "suites/filter.h"

#include <array>

#include "kernels/core/status.h"

namespace assay {
namespace {

/// Limit on the length of a filter. No id is as long, and nesting costs stack.
constexpr std::size_t longest = 1000;

}  // namespace

Filter::Filter(const std::string& text) {
  if (text.size() > longest) {
    throw UsageError("--filter: longer than " + std::to_string(longest) + " characters");
  }
  const int error = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    std::array<char, 200> why{};
    regerror(error, &compiled_, why.data(), why.size());
    throw UsageError("--filter '" + text + "': not a regular expression: " + why.data());
  }
}

bool Filter::matches(const std::string& id) const {
  return regexec(&compiled_, id.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace assay
