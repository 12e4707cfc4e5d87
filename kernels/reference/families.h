#pragma once

#include <span>
#include <string_view>

#include "kernels/reference/expected.h"

namespace assay::reference {

struct ReferenceRow {
  std::string_view op;
  Reference (*choose)(const OpInstance&);
};

// References of each family, one file each.
std::span<const ReferenceRow> elementwise_references();
std::span<const ReferenceRow> function_references();
std::span<const ReferenceRow> reduction_references();
std::span<const ReferenceRow> scan_references();
std::span<const ReferenceRow> sort_references();
std::span<const ReferenceRow> rowwise_references();
std::span<const ReferenceRow> layout_references();
std::span<const ReferenceRow> cast_references();
std::span<const ReferenceRow> quantize_references();
std::span<const ReferenceRow> random_references();
std::span<const ReferenceRow> matmul_references();
std::span<const ReferenceRow> matmul_stack_references();
std::span<const ReferenceRow> copy_references();
std::span<const ReferenceRow> memory_stream_references();
std::span<const ReferenceRow> collective_references();
std::span<const ReferenceRow> distributed_gradient_references();

}  // namespace assay::reference
