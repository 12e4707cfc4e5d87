#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/assets.h"
#include "reports/files/gzip.h"
#include "reports/page/content.h"

namespace assay::page {
namespace {

std::string bytes_of(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::size_t base_column(const Columns& columns, const std::string& wanted) {
  if (wanted.empty()) return 0;
  std::vector<std::string> labels;
  for (const Column& column : columns.all()) labels.push_back(column.name);
  // A device without a run is that of the first run.
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.name == wanted || column.label == wanted || column.device == wanted) return i;
  }
  throw UsageError("--baseline: " + unknown_name("column", wanted, labels));
}

/// A part of the page: the key of its data, its template, and its name in the menu.
struct Part {
  std::string_view id;
  std::string_view name;
  Json (*make)(const Content&);
};

/// The parts in their order on the page.
constexpr std::array<Part, 13> parts{{{"verdict", "Verdict", verdict_part},
                                      {"paired", "Two builds", paired_part},
                                      {"history", "History", history_part},
                                      {"problems", "Wrong", problems_part},
                                      {"correctness", "Right", correctness_part},
                                      {"speed", "Fast", speed_part},
                                      {"against", "Side by side", against_part},
                                      {"charts", "Charts", charts_part},
                                      {"environment", "Devices", environment_part},
                                      {"limits", "Limits", limits_part},
                                      {"links", "Links", links_part},
                                      {"bits", "Bits", bits_part},
                                      {"results", "Rows", results_part}}};

}  // namespace

Content::Content(const PageInput& of)
    : input(of),
      columns(of.runs),
      grid(make_grid(of.runs, columns)),
      base(columns.size() == 0 ? 0 : base_column(columns, of.baseline)) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (std::ranges::any_of(grid, [&](const GridOp& op) {
          return c < op.rates.size() && op.rates[c].trial != nullptr;
        })) {
      rated.push_back(c);
    }
  }
  for (const RunSource& run : of.runs) files.push_back(&run.results);
  for (const RunSource& run : of.runs) {
    if (!run.limits_csv.bytes.empty()) files.push_back(&run.limits_csv);
  }
  for (const PairedSource& source : of.paired) files.push_back(&source.csv);
  if (of.history) files.push_back(&of.history->points);
}

std::size_t Content::file_of(const CsvSource& source) const {
  return static_cast<std::size_t>(std::ranges::find(files, &source) - files.begin());
}

Json page_data(const PageInput& input) {
  const Content content(input);
  Json data{{"made_by", input.made_by},
            {"script", asset("page/assets/page.js")},
            {"style", std::string(asset("page/assets/scale.css")) +
                          std::string(asset("page/assets/page.css"))},
            {"script_hash", base64(bytes_of(script_sha256))},
            {"menu", Json::array()}};
  for (const Part& part : parts) {
    data[part.id] = part.make(content);
    if (!data[part.id].is_null()) data["menu"].push_back({{"id", part.id}, {"name", part.name}});
  }
  return data;
}

std::string page_html(const PageInput& input) { return render("page", page_data(input)); }

}  // namespace assay::page
