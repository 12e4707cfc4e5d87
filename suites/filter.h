#pragma once

#include <regex.h>

#include <string>

namespace assay {

/// A POSIX extended regular expression that is searched in case ids. An empty one matches all.
/// std::regex is not used: it takes exponential time, or all of the stack, for some expressions.
class Filter {
 public:
  /// Throws UsageError if `text` is no regular expression.
  explicit Filter(const std::string& text);
  ~Filter() { regfree(&compiled_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  bool matches(const std::string& id) const;

 private:
  regex_t compiled_{};
};

}  // namespace assay
