#pragma once

#include <cstdint>

namespace assay::oracle {

/// Number of elements judged at a time.
inline constexpr std::int64_t run_elements = 1024;

}  // namespace assay::oracle
