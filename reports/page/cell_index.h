#pragma once

#include <string>

#include "reports/page/render.h"

namespace assay::page {

/// Returns where the cells of a CSV file stand, for the script, which knows no CSV: {begin, rows,
/// cells, texts}. The rows follow one another from the offset `begin`. Each has the same cells
/// {name, skip, length}, in bytes: so many behind the end of the cell before, so many long. The
/// first and the last have no name, and are the begin and the end of the row. A skip or length is
/// one number for all rows, or a list. `texts` are the cells by "row.cell" that differ from their
/// bytes.
Json cell_index(const std::string& csv);

}  // namespace assay::page
