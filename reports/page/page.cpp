#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  Json data;
  for (const Part& part : page_parts) data[part.id] = part.make(content);
  return data;
}

std::string page_html(const PageInput& input) {
  Json data = page_data(input);
  Json page{{"made_by", input.made_by},
            {"script", asset("page/assets/page.js")},
            {"style", std::string(asset("page/assets/scale.css")) +
                          std::string(asset("page/assets/page.css"))},
            {"script_hash", base64(bytes_of(script_sha256))},
            {"verdict", data["verdict"]},
            {"sections", Json::array()}};
  for (const Part& part : page_parts) {
    Json of_part = std::move(data[part.id]);
    if (of_part.is_null()) continue;
    of_part["id"] = part.id;
    page["sections"].push_back(
        {{"id", part.id},
         {"name", part.name},
         {"section", render(has_template(part.id) ? part.id : "section", of_part)}});
  }
  return render("page", page);
}

}  // namespace assay::page
