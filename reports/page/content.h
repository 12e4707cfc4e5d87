#pragma once

#include <cstddef>
#include <vector>

#include "reports/page/columns.h"
#include "reports/page/grid.h"
#include "reports/page/page_input.h"
#include "reports/page/render.h"

// Parts of a page as data for their templates. Each is null if it has no content.
namespace assay::page {

/// Content that all parts read.
struct Content {
  explicit Content(const PageInput& of);

  const PageInput& input;
  Columns columns;
  std::vector<GridOp> grid;
  std::size_t base = 0;                 // column that others are compared with
  std::vector<std::size_t> rated;       // columns with the rate of an op
  std::vector<const CsvSource*> files;  // files in the page, that of run i at i

  std::size_t file_of(const CsvSource& source) const;
};

Json verdict_part(const Content& content);
Json paired_part(const Content& content);
Json history_part(const Content& content);
Json problems_part(const Content& content);
Json correctness_part(const Content& content);
Json speed_part(const Content& content);
Json against_part(const Content& content);
Json charts_part(const Content& content);
Json environment_part(const Content& content);
Json limits_part(const Content& content);
Json links_part(const Content& content);
Json bits_part(const Content& content);
Json results_part(const Content& content);

}  // namespace assay::page
