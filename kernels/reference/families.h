#pragma once

#include <span>
#include <string_view>

#include "kernels/reference/reference.h"

namespace assay::reference {

struct ReferenceRow {
  std::string_view op;
  Reference (*choose)(const OpInstance&);
};

// The references of each family, one file each.
std::span<const ReferenceRow> arithmetic_references();
std::span<const ReferenceRow> comparison_references();
std::span<const ReferenceRow> function_references();
std::span<const ReferenceRow> reduction_references();
std::span<const ReferenceRow> whole_array_references();
std::span<const ReferenceRow> rowwise_references();
std::span<const ReferenceRow> layout_references();
std::span<const ReferenceRow> cast_references();
std::span<const ReferenceRow> random_references();
std::span<const ReferenceRow> linear_references();
std::span<const ReferenceRow> linear_stack_references();
std::span<const ReferenceRow> memcpy_references();
std::span<const ReferenceRow> allreduce_references();
std::span<const ReferenceRow> stream_references();
std::span<const ReferenceRow> distributed_gradient_references();

}  // namespace assay::reference
