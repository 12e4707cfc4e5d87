#pragma once

#include <cstddef>

#include "reports/page/content.h"

namespace assay::page {

/// For each other run: trials of the same lane with another status than in `base`, and those that
/// only one of the two has: {name, remark, tables}. Runs without any stand in one block.
Json changes_against(const Content& content, std::size_t base);

}  // namespace assay::page
