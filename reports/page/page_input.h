#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/page/sources.h"

namespace assay::page {

/// Input of `assay report`; at least one of the first three.
struct PageInput {
  std::vector<RunSource> runs;
  std::vector<PairedSource> paired;
  std::optional<HistorySource> history;
  std::string baseline;  // the label of a column, "cuda:0", "cpu of run 2"; empty: the first
  double margin = 0.05;  // smaller differences are ignored
  std::string made_by;   // "assay 0.1.0 (4f0c2d81)"
  std::map<std::string, std::string, std::less<>> suites;  // descriptions, by name
};

}  // namespace assay::page
