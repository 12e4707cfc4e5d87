#pragma once

#include <cstddef>
#include <span>

#include "kernels/core/tensor_spec.h"

namespace assay::input {

/// Gives elements that share memory in a tensor of `spec` the value of the first of them. `bytes`
/// are those of a dense tensor of its shape.
void repeat_elements(const TensorSpec& spec, std::span<std::byte> bytes);

}  // namespace assay::input
