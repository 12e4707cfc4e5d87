#include "reports/explanation.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/fields_text.h"

namespace assay {

std::string explanation(const Record& record) {
  std::string text = record.reason;
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n{}: {}", label, value);
  };
  add("oracle", record.oracle);
  add("mismatches", to_cell(record.mismatches));
  add("elements", to_cell(record.elements));
  add("worst |error| / allowed", to_cell(record.max_bound_ratio));
  add("worst index", to_cell(record.worst_index));
  add("worst rank", to_cell(record.worst_rank));
  add("expected", record.worst_expected);
  add("actual", record.worst_actual);
  add("replay", record.replay);
  return text;
}

}  // namespace assay
