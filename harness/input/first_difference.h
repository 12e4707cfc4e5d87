#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::input {

/// Index of the first byte at which `a` and `b` differ. Both have the same length.
std::optional<std::size_t> first_difference(std::span<const std::byte> a,
                                            std::span<const std::byte> b);

}  // namespace assay::input
