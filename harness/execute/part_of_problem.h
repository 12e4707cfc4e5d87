#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

namespace assay {

/// Some rows of an output, and some of its columns, as a problem of their own: the same op on the
/// inputs that they depend on alone.
struct PartOfProblem {
  OpInstance op;
  std::vector<std::vector<HostTensor>> inputs;  // of its one rank
  std::vector<std::int64_t> rows;               // of the whole output; empty: all
  std::vector<std::int64_t> columns;            // likewise; empty: all
  std::int64_t whole_columns = 0;               // extent of a row of the whole output

  /// Index in the whole output of element i of this one.
  std::int64_t index_in_whole(std::int64_t i) const;
};

/// True if outputs of the op can be judged by rows (Op::independent_rows), or by columns.
bool has_rows_apart(const OpInstance& op);
bool has_columns_apart(const OpInstance& op);
/// Number of rows, or of columns, that stand apart; 1 where none do.
std::int64_t rows_apart(const OpInstance& op);
std::int64_t columns_apart(const OpInstance& op);

/// Part of a problem whose inputs are `inputs`. Rows and columns ascend; none of them means all.
PartOfProblem part_of(const OpInstance& op, std::span<const HostTensor> inputs,
                      std::vector<std::int64_t> rows, std::vector<std::int64_t> columns);

/// True if rows of problems with different inputs can be judged as one problem: all inputs have
/// rows.
bool can_join_rows(const OpInstance& op);
/// One problem of rows of several, each of them a part_of `op` by rows alone.
PartOfProblem joined(const OpInstance& op, std::span<const PartOfProblem> parts);

}  // namespace assay
