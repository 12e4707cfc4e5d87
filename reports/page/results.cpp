#include <fmt/format.h>

#include "reports/files/gzip.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/text/si.h"

namespace assay::page {

/// The files as links that save them, without scripts too. Scripts read them for the table and for
/// the rows behind figures.
Json results_part(const Content& content) {
  Json files = Json::array();
  for (std::size_t i = 0; i < content.files.size(); ++i) {
    const CsvSource& file = *content.files[i];
    std::string save_as = file.name;
    for (char& c : save_as) c = c == '/' ? '-' : c;
    files.push_back({{"file", file.name + ".gz"},
                     {"save_as", save_as},
                     {"kind", i < content.input.runs.size() ? "results" : "other"},
                     {"packed", base64(gzip(file.bytes))},
                     {"size", with_commas(std::ssize(file.bytes))}});
  }
  const bool has_rows = !content.input.runs.empty();
  return {{"title", has_rows ? "All rows" : "The files"},
          {"has_rows", has_rows},
          {"files", std::move(files)}};
}

}  // namespace assay::page
