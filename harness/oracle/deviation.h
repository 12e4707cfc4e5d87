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

/// Whether `version` ("2.6.3") is one of [from, before); empty ends are open. A text without a
/// number is of no version, and in no range but the open one.
bool is_version_of(std::string_view version, std::string_view from, std::string_view before);

/// What was seen of one declared deviation.
struct Seen {
  const Deviation* deviation;
  std::int64_t places = 0;     // elements at which it should show
  std::int64_t deviating = 0;  // of those, elements that hold its value
};

/// The deviations of `table` that are declared for an op on an implementation.
std::vector<Seen> declared_for(std::span<const Deviation> table, const OpInstance& op,
                               std::string_view implementation);

/// Puts the expected value in the place of each element of `output` that deviates as declared, and
/// counts them: what is left is judged like any other output. `rank` tells whose output it is.
void put_right(const reference::Reference& expected, const reference::Problem& problem,
               std::span<const double> state, int rank, HostTensor& output,
               std::vector<Seen>& seen);

}  // namespace assay::oracle
