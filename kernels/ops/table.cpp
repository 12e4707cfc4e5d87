#include <iterator>
#include <utility>
#include <vector>

#include "kernels/ops/families.h"
#include "kernels/ops/op.h"

namespace assay {
namespace {

std::vector<Op> make_table() {
  std::vector<Op> table;
  for (const auto family : {elementwise_ops, function_ops, cast_ops, random_ops, reduction_ops,
                            scan_ops, sort_ops, rowwise_ops, layout_ops, matmul_ops, quantize_ops,
                            copy_ops, memory_stream_ops, collective_ops}) {
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

std::span<const Op> all_ops() { return table(); }

const Op* find_op(std::string_view name) {
  for (const Op& op : all_ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace assay
