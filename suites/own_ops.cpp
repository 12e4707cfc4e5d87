#include "suites/own_ops.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "suites/suite.h"

namespace assay {

void add_suite_of_defined_ops() {
  Suite suite{.order = 1000,
              .name = suite_of_defined_ops,
              .description = "ops that a file of the user defines (docs/any-op.md)",
              .grids = {}};
  for (const DefinedOp& op : every_defined_op()) {
    const auto has_its_name = [&](const Suite& known) { return known.name == op.name; };
    if (std::ranges::any_of(all_suites(), has_its_name)) {
      throw UsageError("a suite is called '" + op.name + "': choose another name for the op");
    }
    Grid grid{.ops = {op.name}, .formats = {op.dtypes.begin(), op.dtypes.end()}, .axes = {}};
    for (const DefinedParameter& parameter : op.parameters) {
      std::vector<std::pair<Level, ParamValue>> points;
      for (const DefinedSize& size : parameter.sizes) {
        points.emplace_back(static_cast<Level>(size.level), size.value);
      }
      grid.axes.push_back(axis(parameter.name, points));
    }
    suite.grids.push_back(std::move(grid));
  }
  add_suite(std::move(suite));
}

}  // namespace assay
