#include "kernels/reference/reference.h"

#include <stdexcept>
#include <string>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

constexpr std::span<const ReferenceRow> (*families[])() = {
    elementwise_references,  function_references,
    cast_references,         random_references,
    reduction_references,    scan_references,
    sort_references,         rowwise_references,
    layout_references,       matmul_references,
    matmul_stack_references, copy_references,
    quantize_references,     memory_stream_references,
    collective_references,   distributed_gradient_references,
};

}  // namespace

Reference find(const OpInstance& op) {
  const std::string_view name = op.op->judged_as.empty() ? op.op->name : op.op->judged_as;
  for (const auto family : families) {
    for (const ReferenceRow& row : family()) {
      if (row.op == name) return row.choose(op);
    }
  }
  throw std::logic_error("op " + std::string(op.op->name) + " has no reference");
}

State solve(const Reference& reference, const Problem& problem) {
  return reference.solve == nullptr ? State{} : reference.solve(problem);
}

}  // namespace assay::reference
