#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/op.h"

namespace assay {
namespace {

/// Ops of users that the table has room for: instances point into it.
constexpr std::size_t max_added = 1000;

std::vector<Op> make_table() {
  std::vector<Op> table;
  for (const auto family : ops_families()) {
    std::vector<Op> ops = family();
    std::move(ops.begin(), ops.end(), std::back_inserter(table));
  }
  table.reserve(table.size() + max_added);
  return table;
}

std::vector<Op>& table() {
  static std::vector<Op> ops = make_table();
  return ops;
}

}  // namespace

std::span<const Op> op_table() { return table(); }

void add_op(Op op) {
  if (table().size() == table().capacity()) {
    throw UsageError("more than " + std::to_string(max_added) + " ops of users");
  }
  table().push_back(std::move(op));
}

const Op* find_op(std::string_view name) {
  for (const Op& op : op_table()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace assay
