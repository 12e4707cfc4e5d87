#include "harness/execute/checks.h"

#include <string>
#include <vector>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {

Check parse_check(std::string_view name) {
  std::vector<std::string> valid;
  for (const Check known : optional_checks()) {
    if (assay::name(known) == name) return known;
    valid.emplace_back(assay::name(known));
  }
  throw UsageError(unknown_name("check", name, valid));
}

Check check_of(Oracle oracle, bool is_exact) {
  if (is_exact && oracle != Oracle::freivalds) return Check::exact;
  switch (oracle) {
    case Oracle::exact:
      return Check::exact;
    case Oracle::freivalds:
      return Check::freivalds;
    case Oracle::sum_bound:
      return Check::sum_bound;
    case Oracle::function_bound:
      return Check::function_bound;
    case Oracle::relative_bound:
      return Check::relative_bound;
    case Oracle::running_bound:
      return Check::running_bound;
    case Oracle::softmax_bound:
      return Check::softmax_bound;
    case Oracle::layernorm_bound:
      return Check::layernorm_bound;
    case Oracle::measured_band:
      return Check::measured_band;
  }
  __builtin_unreachable();
}

}  // namespace assay
