#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::page {

/// Writes HTML: all text is escaped, and elements must be ended in the reverse order.
class Html {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void begin(std::string_view element, Attributes attributes = {});
  /// Throws std::logic_error if another element is open.
  void end(std::string_view element);
  void text(std::string_view text);
  /// Writes begin, text and end.
  void element(std::string_view name, std::string_view text, Attributes attributes = {});
  /// Markup of our own: charts, style, script.
  void raw(std::string_view markup) { markup_ += markup; }

  /// Returns the text; throws std::logic_error if an element is still open.
  std::string take();

 private:
  std::string markup_;
  std::vector<std::string> open_;
};

}  // namespace assay::page
