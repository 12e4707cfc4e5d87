#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops/op.h"

namespace assay::measure {

/// What one launch asks of one limit of its device: bytes of a memory or a link, operations of
/// matrix units. It takes at least amount / limit.
struct Demand {
  std::string limit;  // as Limit::limit
  double amount = 0;
};

/// Tensors larger than so many last-level caches come from memory in each launch, again. (STREAM
/// asks the same of its arrays: McCalpin, "STREAM: Sustainable Memory Bandwidth".)
inline constexpr std::int64_t caches_to_exceed = 4;

/// Smaller products take about as long as a launch does.
inline constexpr double least_product_flops = 1e8;

/// None where nothing that is measured bounds the launch: its tensors fit into the caches, it is
/// a small product, or a collective.
std::vector<Demand> demands(const OpInstance& op,
                            std::optional<std::int64_t> last_level_cache_bytes);

}  // namespace assay::measure
