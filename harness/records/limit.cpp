#include "harness/records/limit.h"

#include <fmt/format.h>

#include "harness/records/fields_text.h"

namespace assay {

std::string to_cell(const NamedLimit& limit) { return to_cell(name(limit)); }

void from_cell(std::string_view cell, NamedLimit& limit) {
  std::string text;
  from_cell(cell, text);
  limit = NamedLimit(text);
}

std::string result_cell(const Limit& limit) {
  return fmt::format("{} {:.4g} {}", name(limit.limit), limit.value.value(), limit.unit);
}

NamedLimit limit_of_result(std::string_view cell) {
  return NamedLimit(cell.substr(0, cell.find(' ')));
}

}  // namespace assay
