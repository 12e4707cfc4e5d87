#include "reports/page/html.h"

#include <stdexcept>

#include "reports/files/xml_text.h"

namespace assay::page {
namespace {

/// Elements that start a line, so that a page can be read as text.
bool begins_line(std::string_view element) {
  for (const std::string_view inline_element :
       {"a", "abbr", "b", "code", "span", "small", "button", "td", "th", "label", "dt", "dd"}) {
    if (element == inline_element) return false;
  }
  return true;
}

}  // namespace

void Html::begin(std::string_view element, Attributes attributes) {
  if (begins_line(element)) markup_ += '\n';
  markup_ += '<';
  markup_ += element;
  for (const auto& [name, value] : attributes) {
    markup_ += ' ';
    markup_ += name;
    markup_ += "=\"";
    markup_ += xml_text(value);
    markup_ += '"';
  }
  markup_ += '>';
  open_.emplace_back(element);
}

void Html::end(std::string_view element) {
  if (open_.empty() || open_.back() != element) {
    throw std::logic_error("html: </" + std::string(element) + "> ends what is not open");
  }
  open_.pop_back();
  markup_ += "</";
  markup_ += element;
  markup_ += '>';
}

void Html::text(std::string_view text) { markup_ += xml_text(text); }

void Html::element(std::string_view name, std::string_view content, Attributes attributes) {
  begin(name, attributes);
  text(content);
  end(name);
}

std::string Html::take() {
  if (!open_.empty()) throw std::logic_error("html: <" + open_.back() + "> is still open");
  return std::move(markup_);
}

}  // namespace assay::page
