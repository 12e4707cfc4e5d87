#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/records/limit_kind.h"
#include "kernels/ops/op.h"

namespace assay::measure {

/// Amount that one launch needs of one limit of its device: bytes of a memory or a link, operations
/// of matrix units, values of a function. The launch takes at least amount / limit.
struct Demand {
  LimitKind limit;
  double amount = 0;
};

/// Tensors larger than this many last-level caches come from memory in each launch. (STREAM
/// requires the same of its arrays: McCalpin, "STREAM: Sustainable Memory Bandwidth".)
inline constexpr std::int64_t caches_to_exceed = 4;

/// Smaller products take about as long as an empty launch.
inline constexpr double min_product_flops = 1e8;

/// Demands of one launch. Empty if no measured limit bounds it: its tensors fit into the caches, or
/// it is a small product or a collective.
std::vector<Demand> demands(const OpInstance& op,
                            std::optional<std::int64_t> last_level_cache_bytes);

}  // namespace assay::measure
