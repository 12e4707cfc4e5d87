#include <iterator>
#include <utility>
#include <vector>

#include "kernels/ops/families.h"
#include "kernels/ops/op.h"

namespace assay {
namespace {

std::vector<Op> make_table() {
  std::vector<Op> table;
  for (const auto family : ops_families()) {
    std::vector<Op> ops = family();
    std::move(ops.begin(), ops.end(), std::back_inserter(table));
  }
  return table;
}

const std::vector<Op>& table() {
  static const std::vector<Op> ops = make_table();
  return ops;
}

}  // namespace

std::span<const Op> op_table() { return table(); }

const Op* find_op(std::string_view name) {
  for (const Op& op : op_table()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace assay
