#include <fmt/format.h>

#include "reports/files/gzip.h"
#include "reports/page/cell_index.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/result_table.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

std::string packed(const Json& data) {
  return base64(gzip(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace

/// The files as links that save them, without scripts too. Scripts read the rows behind figures
/// there.
Json results_part(const Content& content) {
  Json files = Json::array();
  for (const CsvSource* source : content.files) {
    const CsvSource& file = *source;
    std::string save_as = file.name;
    for (char& c : save_as) c = c == '/' ? '-' : c;
    files.push_back({{"file", file.name + ".gz"},
                     {"save_as", save_as},
                     {"cells", packed(cell_index(file.bytes))},
                     {"packed", base64(gzip(file.bytes))},
                     {"size", with_commas(std::ssize(file.bytes))}});
  }
  const bool has_rows = !content.input.runs.empty();
  return {{"title", has_rows ? "All rows" : "The files"},
          {"has_rows", has_rows},
          {"rows", has_rows ? packed(result_table(content.input.runs)) : ""},
          {"files", std::move(files)}};
}

}  // namespace assay::page
