#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/page/columns.h"
#include "reports/page/grid.h"
#include "reports/page/html.h"
#include "reports/page/page.h"

// Parts of a page in their order. Each writes nothing if it has no content.
namespace assay::page {

/// Content that all parts read.
struct Content {
  explicit Content(const PageInput& of);

  const PageInput& input;
  Columns columns;
  std::vector<GridOp> grid;
  std::size_t base = 0;                 // column that others are compared with
  std::vector<const CsvSource*> files;  // files in the page, that of run i at i

  std::size_t file_of(const CsvSource& source) const;
};

/// Returns the fragment of the URL that shows a row: "#row=0.123".
std::string row_link(std::size_t file, std::size_t row);

void add_verdict(Html& html, const Content& content);
void add_problems(Html& html, const Content& content);
void add_environment(Html& html, const Content& content);
void add_correctness(Html& html, const Content& content);
void add_speed(Html& html, const Content& content);
void add_against(Html& html, const Content& content);
void add_charts(Html& html, const Content& content);
void add_limits(Html& html, const Content& content);
void add_paired(Html& html, const Content& content);
void add_history(Html& html, const Content& content);
void add_results(Html& html, const Content& content);

// Pieces that parts share.

/// A part with its heading, which the menu at the top lists.
class Part {
 public:
  Part(Html& html, std::string_view id, std::string_view title);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() noexcept(false);

 private:
  Html& html_;
};

/// Header of a column; right-aligned for numbers.
struct Heading {
  Heading(const char* words) : text(words) {}
  Heading(std::string words) : text(std::move(words)) {}
  static Heading of_numbers(std::string words) {
    Heading heading(std::move(words));
    heading.numbers = true;
    return heading;
  }

  std::string text;
  bool numbers = false;
};

/// Table with its caption and header. It scrolls by itself if it is wider than the screen. Scripts
/// make its columns sort.
class Table {
 public:
  Table(Html& html, std::string_view caption, const std::vector<Heading>& header);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() noexcept(false);

 private:
  Html& html_;
};

/// Adds a cell with a number behind its text, by which it sorts.
void add_number(Html& html, std::string_view text, std::optional<double> value);
/// Adds a case id that links to its row.
void add_case(Html& html, std::string_view case_id, const std::string& link);
/// Adds "✓ pass", with a class of its own: never colour alone.
void add_status(Html& html, const Record& trial);
/// Adds a command with a button that copies it.
void add_command(Html& html, std::string_view command);

/// Returns "12.3 GB/s (12.1 to 12.4)": the interval is that of the median within one process.
std::string rate_text(const Record& trial);

/// One line of a table of ratios of times, above 1 is slower.
struct ForestRow {
  std::string name;
  std::string link;
  std::string detail;
  std::string verdict;  // "regressed"; also the class of its mark
  Ratio ratio;
  double margin = 0;
};
/// Returns the distance of a ratio from 1 in half widths of its interval: large is sure. -1 if it
/// has no interval.
double severity_of(const ForestRow& row);
/// Adds the rows surely slower than the margin, then those without an interval beyond it, then the
/// most severe; at most `most` rows, each with its interval drawn on one axis for all.
void add_forest(Html& html, std::string_view caption, std::string_view verdict_title,
                std::vector<ForestRow> rows, std::size_t most);

}  // namespace assay::page
