#include <fmt/format.h>

#include "reports/few_samples.h"
#include "reports/page/sections.h"
#include "reports/si.h"

namespace assay::page {

void add_limits(Html& html, const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  bool any = false;
  for (const RunSource& source : runs) any = any || !source.limits.empty();
  if (!any) return;
  const Part part(html, "limits", "What bounds the figures");
  html.element("p",
               "Verified cases of their own measured these limits on the same device before the "
               "run. The best of several rows of a limit counts.");
  const Table table(
      html, "Measured limits (95% interval), and the theoretical figures by clocks and widths",
      {"Limit", "Device", Heading::of_numbers("Measured"), Heading::of_numbers("In theory"),
       "Case"});
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].limits.size(); ++i) {
      const Limit& limit = runs[r].limits[i];
      html.begin("tr");
      html.element("th", limit.limit, {{"scope", "row"}});
      html.element("td", limit.device + (runs.size() > 1 ? fmt::format(" of run {}", r + 1) : ""));
      if (limit.value) {
        std::string text = limit.ci_low && limit.ci_high
                               ? si(*limit.value, *limit.ci_low, *limit.ci_high, limit.unit)
                               : si(*limit.value, limit.unit);
        if (has_too_few_samples(limit.samples)) text += fmt::format(" ({})", too_few_samples);
        if (limit.contended.value_or(false)) text += " contended";
        add_number(html, text, limit.value);
      } else {
        add_number(html, fmt::format("{}: {}", name(limit.status), limit.reason), std::nullopt);
      }
      add_number(html, limit.theoretical ? si(*limit.theoretical, limit.unit) : "",
                 limit.theoretical);
      html.begin("td");
      html.element("a", limit.case_id,
                   {{"href", row_link(content.file_of(runs[r].limits_csv), i)}});
      html.end("td");
      html.end("tr");
    }
  }
}

}  // namespace assay::page
