#include "reports/page/charts.h"

namespace assay::page {

Json charts_part(const Content& content) {
  Json rooflines = Json::array();
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    Json chart = roofline(content, c);
    if (!chart.is_null()) rooflines.push_back(std::move(chart));
  }
  Json suites = sweeps(content);
  if (suites.empty() && rooflines.empty()) return nullptr;
  return {{"title", "Against size, and under the roof"},
          {"suites", std::move(suites)},
          {"rooflines", std::move(rooflines)}};
}

}  // namespace assay::page
