#include "kernels/reference/reference.h"

#include <stdexcept>
#include <string>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

constexpr std::span<const ReferenceRow> (*families[])() = {
    arithmetic_references,  comparison_references,   function_references,
    cast_references,        random_references,       reduction_references,
    whole_array_references, rowwise_references,      layout_references,
    linear_references,      linear_stack_references, memcpy_references,
    allreduce_references,   stream_references,       distributed_gradient_references,
};

}  // namespace

Reference find(const OpInstance& op) {
  for (const auto family : families) {
    for (const ReferenceRow& row : family()) {
      if (row.op == op.op->name) return row.choose(op);
    }
  }
  throw std::logic_error("op " + std::string(op.op->name) + " has no reference");
}

State solve(const Reference& reference, const Problem& problem) {
  return reference.solve == nullptr ? State{} : reference.solve(problem);
}

}  // namespace assay::reference
