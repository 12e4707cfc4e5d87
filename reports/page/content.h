#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "reports/page/columns.h"
#include "reports/page/grid.h"
#include "reports/page/page_input.h"
#include "reports/page/render.h"

// Parts of a page as data for their templates. Each is null if it has no content. A new one is a
// function, declared and named here, and a template if it is more than tables.
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
Json figures_part(const Content& content);
Json speed_part(const Content& content);
Json models_part(const Content& content);
Json against_part(const Content& content);
Json charts_part(const Content& content);
Json environment_part(const Content& content);
Json limits_part(const Content& content);
Json links_part(const Content& content);
Json bits_part(const Content& content);
Json results_part(const Content& content);

/// A part of the page: the key of its data and name of its template, its name in the menu. Without
/// a template of its own it is a title, a paragraph `remark` and tables (section.mustache).
struct Part {
  std::string_view id;
  std::string_view name;
  Json (*make)(const Content&);
};

/// The parts in their order on the page.
inline constexpr Part page_parts[] = {{"verdict", "Verdict", verdict_part},
                                      {"paired", "Two builds", paired_part},
                                      {"history", "History", history_part},
                                      {"problems", "Wrong", problems_part},
                                      {"correctness", "Right", correctness_part},
                                      {"figures", "Figures", figures_part},
                                      {"speed", "Fast", speed_part},
                                      {"models", "Problems", models_part},
                                      {"against", "Side by side", against_part},
                                      {"charts", "Charts", charts_part},
                                      {"environment", "Devices", environment_part},
                                      {"limits", "Limits", limits_part},
                                      {"links", "Links", links_part},
                                      {"bits", "Bits", bits_part},
                                      {"results", "Rows", results_part}};

}  // namespace assay::page
