#include "kernels/reference/reference.h"

#include <stdexcept>
#include <string>

#include "kernels/ops/defined.h"
#include "kernels/reference/defined.h"
#include "kernels/reference/families.h"

namespace assay::reference {

Reference find(const OpInstance& op) { return find(op, op.op->name); }

Reference find(const OpInstance& op, std::string_view name) {
  for (const auto family : references_families()) {
    for (const ReferenceRow& row : family()) {
      if (row.op == name) return row.choose(op);
    }
  }
  if (op.op->name == name && is_defined(name)) return of_defined_op(op);
  throw std::logic_error("op " + std::string(name) + " has no reference");
}

State solve(const Reference& reference, const Problem& problem) {
  return reference.solve == nullptr ? State{} : reference.solve(problem);
}

}  // namespace assay::reference
