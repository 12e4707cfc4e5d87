#include "suites/suite.h"

namespace assay {

Suite limits_suite() {
  using enum DType;
  using enum Level;
  const Axis small = axis("n", {{seeds, 0}, {seeds, 1}, {seeds, 3}, {seeds, 1003}, {smoke, 65537}});
  return {.order = 7,
          .name = "limits",
          .description = "streams through memory, of which `assay limits` makes its ceilings",
          .grids = {{{"stream_read"}, {i64}, {small}, never},
                    {{"stream_write", "stream_copy", "stream_triad"}, {f64}, {small}, never}}};
}

}  // namespace assay
