#include "kernels/ops/reads.h"

#include <algorithm>

#include "kernels/ops/borders.h"
#include "kernels/ops/collectives.h"

namespace assay {
namespace {

bool sends(const OpInstance& op, int rank, std::int64_t element) {
  switch (*collective_of(op)) {
    case Collective::broadcast:
      return root_of(op) == rank;
    case Collective::send_recv: {
      const ParamValue* from = op.params.find("from");  // of a pair; else all send
      return from == nullptr || std::get<std::int64_t>(*from) == rank;
    }
    case Collective::all_gather: {
      const std::int64_t count = op.params.integer("count");
      return !op.signature.in_place || element / count == rank;
    }
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return true;
  }
  __builtin_unreachable();
}

/// The first indices choose the rows at borders (Distribution::border_indices), if there are
/// enough.
bool is_chosen(const OpInstance& op, std::int64_t element) {
  const std::int64_t row = element / op.params.integer("cols");
  const std::vector<std::int64_t> rows = borders(op.params.integer("rows"));
  return std::ssize(rows) <= op.params.integer("count") &&
         std::ranges::find(rows, row) != rows.end();
}

bool is_in_slice(const OpInstance& op, std::int64_t element) {
  const std::int64_t inner = op.params.integer("inner");
  const std::int64_t behind = element / inner % op.params.integer("n") - op.params.integer("start");
  const std::int64_t step = op.params.integer("step");
  return behind >= 0 && behind % step == 0 && behind / step < op.params.integer("count");
}

bool has_padding(const OpInstance& op) {
  return op.params.integer("before") + op.params.integer("after") > 0;
}

}  // namespace

bool reads(const OpInstance& op, int rank, int input, std::int64_t element) {
  if (output_elements(op.signature) == 0) return false;
  if (op.op->collective) return sends(op, rank, element);
  if (op.op->name.starts_with("arg") && op.signature.terms == 1) return false;
  if (op.op->name == "gather")
    return input == 0 ? is_chosen(op, element) : op.params.integer("rows") > 1;
  if (op.op->name == "slice") return is_in_slice(op, element);
  if (op.op->name == "pad") return input == 0 || has_padding(op);
  return true;
}

}  // namespace assay
