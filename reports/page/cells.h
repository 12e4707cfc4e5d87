#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/record.h"
#include "reports/page/render.h"

// Cells of templates/table.mustache, and other pieces that templates share.
namespace assay::page {

/// Characters of an id after which a line may break.
inline constexpr std::string_view break_after = "/,;>+";
/// Pieces of an id between which a line may break: "linear/", "f32/", "batch=64,", "in=1024".
Json pieces(std::string_view id);

Json text_cell(std::string_view text);
/// The name of a row.
Json head_cell(std::string_view text);
/// A number as text, and its value, by which it sorts; without a value the cell is empty or says
/// why.
Json number_cell(std::string_view text, std::optional<double> value);
/// A case id that links to its row.
Json case_cell(std::string_view case_id, const std::string& link);

/// {sign, word, kind}: "✓ pass". Colour is never alone.
Json status_of(const Record& trial);
Json status_cell(const Record& trial);

/// A header; numbers stand at the right.
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

/// A table; `rows` are lists of cells, or {mark, cells}.
Json table(std::string_view caption, const std::vector<Heading>& headings, Json rows);

/// An interval in grey: {figure "8.00 GB/s", interval "7.92–8.08"}; the interval is empty if there
/// is none, or says "too few samples".
struct Figure {
  std::string value;
  std::string interval;
};
Figure rate_figure(const Record& trial);
/// The ratio of two times for people: "1.20× slower", "2.00× faster", "the same".
std::string speed_words(double ratio);

/// Returns the fragment of the URL that shows a row: "#row=0.123".
std::string row_link(std::size_t file, std::size_t row);

}  // namespace assay::page
