#include "reports/page/cells.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/text/few_samples.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// Sets all that the template reads: it would otherwise look around the cell.
Json cell(std::string_view tag, std::string_view text) {
  return {{"tag", tag},      {"scope", tag == "th" ? "row" : ""},
          {"class", ""},     {"v", ""},
          {"link", ""},      {"tip", ""},
          {"status", false}, {"text", text},
          {"pieces", false}, {"interval", ""},
          {"below", ""},     {"note", ""},
          {"chart", ""}};
}

/// Three significant digits without a power of ten.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace

Json pieces(std::string_view id) {
  Json found = Json::array();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (break_after.find(id[i]) == std::string_view::npos) continue;
    found.push_back(std::string(id.substr(begin, i + 1 - begin)));
    begin = i + 1;
  }
  if (begin < id.size()) found.push_back(std::string(id.substr(begin)));
  return found;
}

Json text_cell(std::string_view text) { return cell("td", text); }

Json head_cell(std::string_view text) { return cell("th", text); }

Json number_cell(std::string_view text, std::optional<double> value) {
  Json made = cell("td", text);
  made["class"] = "number";
  if (value) made["v"] = fmt::format("{}", *value);
  return made;
}

Json case_cell(std::string_view case_id, const std::string& link) {
  Json made = cell("th", "");
  made["class"] = "id";
  made["pieces"] = pieces(case_id);
  made["link"] = link;
  return made;
}

Json status_of(const Record& trial) {
  const auto look = [&]() -> std::pair<const char*, const char*> {
    if (!trial.expected_failure.empty()) return {"○", "skip"};
    switch (class_of(trial.status)) {
      case StatusClass::right:
        return {"✓", "right"};
      case StatusClass::wrong:
        return {"✗", "wrong"};
      case StatusClass::broken:
        return {"!", "broken"};
      case StatusClass::skipped:
        break;
    }
    return {"–", "skip"};
  }();
  return {{"sign", look.first}, {"kind", look.second}, {"word", name(trial.status)}};
}

Json status_cell(const Record& trial) {
  Json made = cell("td", "");
  made["status"] = status_of(trial);
  return made;
}

Json table(std::string_view caption, const std::vector<Heading>& headings, Json rows) {
  Json header = Json::array();
  for (const Heading& heading : headings) {
    header.push_back({{"name", heading.text}, {"numbers", heading.numbers}});
  }
  for (Json& row : rows) {
    if (row.is_array()) row = Json{{"mark", ""}, {"cells", std::move(row)}};
  }
  return {{"caption", caption}, {"hint", ""}, {"headings", header}, {"rows", std::move(rows)}};
}

Figure rate_figure(const Record& trial) {
  const std::optional<Rate> own = rate(trial);
  if (!own) return {};
  Figure figure{si(own->per_s, unit_of(own->kind)), ""};
  if (!trial.time_median_s || trial.time_ci_low_s.value_or(0) <= 0 || !trial.time_ci_high_s) {
    if (has_too_few_samples(trial.samples)) figure.interval = too_few_samples;
    return figure;
  }
  const std::string whole =
      si(own->per_s, own->per_s * *trial.time_median_s / *trial.time_ci_high_s,
         own->per_s * *trial.time_median_s / *trial.time_ci_low_s, unit_of(own->kind));
  const std::size_t open = whole.find(" (");
  figure.interval = whole.substr(open + 2, whole.size() - open - 3);
  return figure;
}

std::string speed_words(double ratio) {
  if (std::abs(std::log(ratio)) < 0.005) return "the same";
  return ratio > 1 ? three_digits(ratio) + "× slower" : three_digits(1 / ratio) + "× faster";
}

std::string row_link(std::size_t file, std::size_t row) {
  return fmt::format("#row={}.{}", file, row);
}

}  // namespace assay::page
