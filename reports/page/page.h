#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/page/render.h"
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

/// Beginning of each page.
inline constexpr std::string_view page_begin =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"assay\">";

/// Returns what the templates show: parts by their name, null where a page has no such part.
Json page_data(const PageInput& input);

/// Returns one HTML file that needs no other and no network. It reads from top to bottom without
/// scripts. With scripts its tables sort and filter, with their state in the URL. Throws UsageError
/// if `baseline` names no column.
std::string page_html(const PageInput& input);

}  // namespace assay::page
