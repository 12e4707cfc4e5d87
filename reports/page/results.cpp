#include <fmt/format.h>

#include "reports/files/gzip.h"
#include "reports/page/sections.h"

namespace assay::page {

/// Adds the files as links that save them, without scripts too. Scripts read them for the table and
/// for the rows behind figures.
void add_results(Html& html, const Content& content) {
  const Part part(html, "results", "All results");
  html.begin("div", {{"id", "table"}, {"class", "scripted"}});
  html.end("div");
  html.begin("noscript");
  html.element("p",
               "The table that sorts and filters needs scripts. Without them the parts above "
               "are complete, and the files below have every row.");
  html.end("noscript");
  html.element("h3", "The files");
  html.begin("ul", {{"class", "files"}});
  for (std::size_t i = 0; i < content.files.size(); ++i) {
    const CsvSource& file = *content.files[i];
    const bool is_results = i < content.input.runs.size();
    std::string save_as = file.name;
    for (char& c : save_as) c = c == '/' ? '-' : c;
    html.begin("li");
    html.element("a", file.name + ".gz",
                 {{"class", "file"},
                  {"download", save_as + ".gz"},
                  {"data-name", save_as},
                  {"data-kind", is_results ? "results" : "other"},
                  {"href", "data:application/gzip;base64," + base64(gzip(file.bytes))}});
    html.text(fmt::format(" {} bytes unpacked", file.bytes.size()));
    html.end("li");
  }
  html.end("ul");
}

}  // namespace assay::page
