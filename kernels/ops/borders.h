#pragma once

#include <cstdint>
#include <vector>

namespace assay {

/// Places in [0, n) where kernels end loops, vectors, tiles or the work of a thread: the first two
/// and the last two, and both sides of the first and last multiples of 8 to 1024. Ascending.
std::vector<std::int64_t> borders(std::int64_t n);

}  // namespace assay
