#pragma once

#include <cstddef>

#include "reports/page/content.h"

namespace assay::page {

/// Trials of the same lane with another status in `cand`, and those that only one of the two runs
/// has: {name, says, tables}.
Json changes_of(const Content& content, std::size_t base, std::size_t cand);

}  // namespace assay::page
