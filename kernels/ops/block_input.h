#pragma once

#include <cstddef>
#include <optional>

#include "kernels/ops/op.h"

namespace assay {

/// Part that an input plays in a block-scaled operand.
struct BlockInput {
  std::size_t operand;  // 0: x, 1: W
  bool is_scales;
};

/// Inputs of a block-scaled op: the elements of its operands come first, their scales last, in the
/// same order; all are bytes. Empty for other inputs, such as a bias, and for other ops.
inline std::optional<BlockInput> block_input(const OpInstance& op, std::size_t input) {
  const auto& inputs = op.signature.inputs;
  if (block_format(op.format) == nullptr || inputs.at(input).dtype != DType::u8) {
    return std::nullopt;
  }
  std::size_t bytes = 0;
  for (const TensorSpec& spec : inputs) bytes += spec.dtype == DType::u8 ? 1 : 0;
  const std::size_t first_scales = inputs.size() - bytes / 2;
  if (input < first_scales) return BlockInput{input, false};
  return BlockInput{input - first_scales, true};
}

}  // namespace assay
