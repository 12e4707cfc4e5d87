#include "harness/execute/checks.h"

#include <array>
#include <string>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

constexpr std::array<std::pair<std::string_view, Check>, 14> checks{{
    {"exact_rules", Check::exact_rules},
    {"freivalds", Check::freivalds},
    {"bounds", Check::bounds},
    {"special_values", Check::special_values},
    {"effective_bits", Check::effective_bits},
    {"worst_element", Check::worst_element},
    {"misrounded", Check::misrounded},
    {"placement", Check::placement},
    {"guard_bands", Check::guard_bands},
    {"unchanged_inputs", Check::unchanged_inputs},
    {"process_state", Check::process_state},
    {"agreement_of_ranks", Check::agreement_of_ranks},
    {"last_launch", Check::last_launch},
    {"soak", Check::soak},
}};

}  // namespace

std::vector<std::string_view> check_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, check] : checks) names.push_back(name);
  return names;
}

Check parse_check(std::string_view name) {
  for (const auto& [known, check] : checks) {
    if (known == name) return check;
  }
  std::vector<std::string> valid;
  for (const std::string_view known : check_names()) valid.emplace_back(known);
  throw UsageError(unknown_name("check", name, valid));
}

}  // namespace assay
