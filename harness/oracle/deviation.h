#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/host_tensor.h"
#include "kernels/ops/deviations.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// True if `version` ("2.6.3") lies in [from, before); empty ends are open. A text without a number
/// has no version and lies only in the fully open range.
bool is_version_of(std::string_view version, std::string_view from, std::string_view before);

/// Observations of one declared deviation.
struct Seen {
  const Deviation* deviation;
  std::int64_t places = 0;     // elements at which it should show
  std::int64_t deviating = 0;  // elements of those places with its value
};

/// The deviations of `table` that are declared for elements of an op on an implementation.
std::vector<Seen> declared_for(std::span<const Deviation> table, const OpInstance& op,
                               std::string_view implementation);

/// The deviation of `table` by which launches of the op may differ; null: they must not.
const Deviation* launches_may_differ(std::span<const Deviation> table, const OpInstance& op,
                                     std::string_view implementation);

/// Replaces each element of `output` that deviates as declared by the expected value, and counts
/// them. The result is then judged like any other output.
void accept_deviations(const reference::Reference& expected, const reference::Problem& problem,
                       std::span<const double> state, HostTensor& output, std::vector<Seen>& seen);

}  // namespace assay::oracle
