#include <fmt/format.h>

#include "harness/oracle/tolerance.h"

namespace assay::oracle {

// An elementary function errs by at most the B ulp that its library documents, plus, for functions
// that are ill conditioned somewhere, C unit roundoffs of its argument (the reference's scale is
// |x|).
Tolerance function_bound(const Rule& rule, const OpInstance& op) {
  return {.scale = rule.argument_units * unit_roundoff(op.dtype),
          .ulps = rule.ulps,
          .description = fmt::format("function_bound(B={},C={})", rule.ulps, rule.argument_units)};
}

}  // namespace assay::oracle
