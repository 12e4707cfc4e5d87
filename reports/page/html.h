#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::page {

/// Writes HTML: all text is escaped, and what is begun must be ended in turn.
class Html {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void begin(std::string_view element, Attributes attributes = {});
  /// Throws std::logic_error where another element is open.
  void end(std::string_view element);
  void text(std::string_view text);
  /// begin, text, end.
  void element(std::string_view name, std::string_view text, Attributes attributes = {});
  /// Markup of our own: charts, style, script.
  void raw(std::string_view markup) { markup_ += markup; }

  /// What was written; throws std::logic_error where an element is still open.
  std::string take();

 private:
  std::string markup_;
  std::vector<std::string> open_;
};

}  // namespace assay::page
