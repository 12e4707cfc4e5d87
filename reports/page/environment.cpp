#include <fmt/format.h>

#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/differences.h"

namespace assay::page {
namespace {

Json table_of(const Properties& properties, std::string_view caption, std::string_view first) {
  std::vector<Heading> headings{std::string(first)};
  headings.insert(headings.end(), properties.columns.begin(), properties.columns.end());
  Json rows = Json::array();
  for (const Property& property : properties.rows) {
    Json name = head_cell(property.name);
    if (property.differs) name["note"] = "differs";
    Json cells = Json::array({std::move(name)});
    for (const std::string& value : property.values) cells.push_back(text_cell(value));
    rows.push_back({{"mark", property.differs ? "differs" : ""}, {"cells", std::move(cells)}});
  }
  return table(caption, headings, std::move(rows));
}

}  // namespace

Json environment_part(const Content& content) {
  if (content.input.runs.empty()) return nullptr;
  Json tables = Json::array();
  tables.push_back(
      table_of(devices_of(content), "Devices as they were when their run began", "Property"));
  tables.push_back(table_of(settings_of_runs(content), "Settings of the runs", "Setting"));
  return {{"title", "Devices and environment"}, {"tables", std::move(tables)}};
}

}  // namespace assay::page
