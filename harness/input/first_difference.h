#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::input {

/// The index of the first byte of `a` that differs from that of `b`, which is as long.
std::optional<std::size_t> first_difference(std::span<const std::byte> a,
                                            std::span<const std::byte> b);

}  // namespace assay::input
