#include "reports/text/explanation.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/records/claims.h"
#include "harness/records/fields_text.h"
#include "harness/records/printable.h"

namespace assay {
namespace {

constexpr std::string_view exact = "none (exact)";

/// Returns whether the worst element had to be exact; its error then has no measure.
bool had_to_be_exact(const Record& record) {
  return record.worst_allowed == 0 &&
         (record.mismatches.value_or(0) > 0 || !record.max_bound_ratio);
}

}  // namespace

std::string explanation(const Record& record) {
  std::string text = printable(record.reason);
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n{}: {}", label, printable(value));
  };
  add("stands for", std::string(claim_of(record.suite, record.op)));
  add("oracle", record.oracle);
  add("mismatches", to_cell(record.mismatches));
  add("elements", to_cell(record.elements));
  if (had_to_be_exact(record)) {
    add("allowed", std::string(exact));
  } else {
    add("worst |error| / allowed", to_cell(record.max_bound_ratio));
  }
  add("worst index", to_cell(record.worst_index));
  add("worst rank", to_cell(record.worst_rank));
  add("expected", record.worst_expected);
  add("actual", record.worst_actual);
  add("replay", record.replay);
  return text;
}

std::string excess_text(const Record& record) {
  if (record.mismatches.value_or(0) > 0 && had_to_be_exact(record)) {
    return fmt::format("allowed: {}", exact);
  }
  const double ratio = record.max_bound_ratio.value_or(0);
  return ratio > 1 ? fmt::format("{:.3g} times the allowed error", ratio) : "";
}

}  // namespace assay
