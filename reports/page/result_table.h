#pragma once

#include <vector>

#include "reports/page/render.h"
#include "reports/page/sources.h"

namespace assay::page {

/// Returns all rows of all results.csv for the script, which draws, sorts and filters them as they
/// are: {counts, columns}. `counts` are the rows of each run. A column is {key, name, is_number,
/// texts, rows}: its different texts, and for each row which of them it has. Those of figures are
/// in the order of their values. Where a column has them:
///   keys         sort and filter in place of the texts
///   kinds        style of each text
///   choices      it filters, by its keys and by these further {value, name}
///   groups       a further value of each text by which it filters
///   break_after  a text leads to its row, and its lines break after these characters
///   is_searched  the search looks at its texts
///   is_hidden    it filters, and is not shown
Json result_table(const std::vector<RunSource>& runs);

}  // namespace assay::page
