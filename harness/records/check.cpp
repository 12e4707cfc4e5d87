#include "harness/records/check.h"

#include <array>
#include <cstddef>

namespace assay {
namespace {

constexpr std::array checks{Check::exact,
                            Check::freivalds,
                            Check::sum_bound,
                            Check::function_bound,
                            Check::relative_bound,
                            Check::running_bound,
                            Check::softmax_bound,
                            Check::layernorm_bound,
                            Check::probable_bound,
                            Check::special_values,
                            Check::effective_bits,
                            Check::worst_element,
                            Check::misrounded,
                            Check::placement,
                            Check::guard_bands,
                            Check::unchanged_inputs,
                            Check::process_state,
                            Check::agreement_of_ranks,
                            Check::last_launch,
                            Check::batch_invariance,
                            Check::soak,
                            Check::late_writes,
                            Check::clock,
                            Check::placement_layer,
                            Check::declared_deviation,
                            Check::decoys,
                            Check::random_signs,
                            Check::measured_band,
                            Check::limit,
                            Check::supervision};
constexpr std::array<std::string_view, checks.size()> check_names{"exact",
                                                                  "freivalds",
                                                                  "sum_bound",
                                                                  "function_bound",
                                                                  "relative_bound",
                                                                  "running_bound",
                                                                  "softmax_bound",
                                                                  "layernorm_bound",
                                                                  "probable_bound",
                                                                  "special_values",
                                                                  "effective_bits",
                                                                  "worst_element",
                                                                  "misrounded",
                                                                  "placement",
                                                                  "guard_bands",
                                                                  "unchanged_inputs",
                                                                  "process_state",
                                                                  "agreement_of_ranks",
                                                                  "last_launch",
                                                                  "batch_invariance",
                                                                  "soak",
                                                                  "late_writes",
                                                                  "clock",
                                                                  "placement_layer",
                                                                  "declared_deviation",
                                                                  "decoys",
                                                                  "random_signs",
                                                                  "measured_band",
                                                                  "limit",
                                                                  "supervision"};
static_assert(static_cast<std::size_t>(checks.back()) + 1 == checks.size());

}  // namespace

std::span<const Check> all_checks() { return checks; }

std::span<const Check> optional_checks() {
  return std::span(checks).first(static_cast<std::size_t>(Check::placement_layer));
}

std::string_view name(Check check) { return check_names.at(static_cast<std::size_t>(check)); }

}  // namespace assay
