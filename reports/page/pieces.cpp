#include <fmt/format.h>

#include <exception>

#include "reports/few_samples.h"
#include "reports/page/sections.h"
#include "reports/rate.h"
#include "reports/si.h"

namespace assay::page {

std::string row_link(std::size_t file, std::size_t row) {
  return fmt::format("#row={}.{}", file, row);
}

Part::Part(Html& html, std::string_view id, std::string_view title) : html_(html) {
  const std::string heading = std::string(id) + "-title";
  html.begin("section", {{"id", id}, {"aria-labelledby", heading}});
  html.element("h2", title, {{"id", heading}});
}

// Ends nothing while an exception passes.
Part::~Part() noexcept(false) {
  if (std::uncaught_exceptions() == 0) html_.end("section");
}

Table::Table(Html& html, std::string_view caption, const std::vector<Heading>& header)
    : html_(html) {
  html.begin("div",
             {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption}});
  html.begin("table");
  html.element("caption", caption);
  html.begin("thead");
  html.begin("tr");
  for (const Heading& heading : header) {
    if (heading.numbers) {
      html.element("th", heading.text, {{"scope", "col"}, {"class", "number"}});
    } else {
      html.element("th", heading.text, {{"scope", "col"}});
    }
  }
  html.end("tr");
  html.end("thead");
  html.begin("tbody");
}

Table::~Table() noexcept(false) {
  if (std::uncaught_exceptions() > 0) return;
  html_.end("tbody");
  html_.end("table");
  html_.end("div");
}

void add_number(Html& html, std::string_view text, std::optional<double> value) {
  if (value) {
    html.element("td", text, {{"class", "number"}, {"data-v", fmt::format("{}", *value)}});
  } else {
    html.element("td", text, {{"class", "number"}});
  }
}

void add_case(Html& html, std::string_view case_id, const std::string& link) {
  html.begin("th", {{"scope", "row"}});
  html.element("a", case_id, {{"href", link}});
  html.end("th");
}

void add_status(Html& html, const Record& trial) {
  struct Look {
    std::string_view sign;
    std::string_view style;
  };
  const auto look = [&]() -> Look {
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
  html.element("span", fmt::format("{} {}", look.sign, name(trial.status)),
               {{"class", std::string("status ") + std::string(look.style)}});
}

void add_command(Html& html, std::string_view command) {
  html.begin("div", {{"class", "command"}});
  html.element("code", command);
  html.element("button", "Copy",
               {{"type", "button"},
                {"class", "copy"},
                {"data-copy", command},
                {"aria-label", "Copy the command"}});
  html.end("div");
}

std::string rate_text(const Record& trial) {
  const std::optional<Rate> own = rate(trial);
  if (!own) return {};
  if (!trial.time_median_s || trial.time_ci_low_s.value_or(0) <= 0 || !trial.time_ci_high_s) {
    const bool is_told = has_too_few_samples(trial.samples);
    return si(own->per_s, own->unit) + (is_told ? fmt::format(" ({})", too_few_samples) : "");
  }
  return si(own->per_s, own->per_s * *trial.time_median_s / *trial.time_ci_high_s,
            own->per_s * *trial.time_median_s / *trial.time_ci_low_s, own->unit);
}

}  // namespace assay::page
