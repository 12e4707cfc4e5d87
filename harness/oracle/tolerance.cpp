#include "harness/oracle/tolerance.h"

namespace assay::oracle {

Tolerance tolerance(const Rule& rule, const OpInstance& op) {
  if (!is_floating(op.dtype)) return exact();
  switch (rule.oracle) {
    case Oracle::exact:
      return exact();
    case Oracle::sum_bound:
      return sum_bound(op);
    case Oracle::function_bound:
      return function_bound(rule, op);
    case Oracle::softmax_bound:
      return softmax_bound(rule, op);
  }
  __builtin_unreachable();
}

Tolerance exact() { return {.exact = true, .description = "exact"}; }

}  // namespace assay::oracle
