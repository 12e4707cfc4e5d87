#include "harness/execute/part_of_problem.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay {
namespace {

OpInstance with_count(const OpInstance& op, std::string_view parameter, std::size_t count) {
  if (count == 0) return op;
  Params params = op.params;
  params.set(parameter, static_cast<std::int64_t>(count));
  return instantiate(*op.op, op.format, params);
}

/// The rows of `whole` with these indices, or the lines where those lie side by side; all of it if
/// there are none.
HostTensor take(const HostTensor& whole, const TensorSpec& spec,
                std::span<const std::int64_t> indices) {
  HostTensor part(spec);
  if (indices.empty()) {
    std::ranges::copy(whole.bytes(), part.bytes().begin());
    return part;
  }
  if (spec.axis) {
    const TensorSpec& from = whole.spec();
    const std::size_t width = size_bytes(spec.dtype);
    for (std::int64_t i = 0; i < spec.elements(); ++i) {
      const std::int64_t line = indices[static_cast<std::size_t>(spec.line_of(i))];
      const auto at =
          static_cast<std::size_t>(from.element_of_line(line, spec.place_of(i))) * width;
      std::ranges::copy(whole.bytes().subspan(at, width),
                        part.bytes().subspan(static_cast<std::size_t>(i) * width).begin());
    }
    return part;
  }
  const std::size_t row_bytes = part.bytes().size() / indices.size();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<std::size_t>(indices[i]) * row_bytes;
    std::ranges::copy(whole.bytes().subspan(at, row_bytes),
                      part.bytes().subspan(i * row_bytes).begin());
  }
  return part;
}

std::int64_t count_of(const OpInstance& op, std::string_view parameter) {
  return parameter.empty() ? 1 : op.params.integer(parameter);
}

}  // namespace

bool has_rows_apart(const OpInstance& op) { return !op.op->independent_rows.empty(); }

bool has_columns_apart(const OpInstance& op) { return !op.op->independent_columns.empty(); }

std::int64_t rows_apart(const OpInstance& op) { return count_of(op, op.op->independent_rows); }

std::int64_t columns_apart(const OpInstance& op) {
  return count_of(op, op.op->independent_columns);
}

std::int64_t PartOfProblem::index_in_whole(std::int64_t i) const {
  const std::int64_t width =
      columns.empty() ? whole_columns : static_cast<std::int64_t>(columns.size());
  const std::int64_t row = i / width;
  const std::int64_t column = i % width;
  return (rows.empty() ? row : rows[static_cast<std::size_t>(row)]) * whole_columns +
         (columns.empty() ? column : columns[static_cast<std::size_t>(column)]);
}

PartOfProblem part_of(const OpInstance& op, std::span<const HostTensor> inputs,
                      std::vector<std::int64_t> rows, std::vector<std::int64_t> columns) {
  // A tensor that becomes shorter with the number of rows has a row for each.
  const OpInstance of_rows = with_count(op, op.op->independent_rows, rows.size());
  PartOfProblem part{.op = with_count(of_rows, op.op->independent_columns, columns.size())};
  part.inputs.emplace_back();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool by_rows = of_rows.signature.inputs[i].shape != op.signature.inputs[i].shape;
    const bool by_columns = part.op.signature.inputs[i].shape != of_rows.signature.inputs[i].shape;
    const std::span<const std::int64_t> none;
    part.inputs.front().push_back(take(inputs[i], part.op.signature.inputs[i],
                                       by_rows      ? std::span<const std::int64_t>(rows)
                                       : by_columns ? std::span<const std::int64_t>(columns)
                                                    : none));
  }
  const std::int64_t all_rows = std::max<std::int64_t>(1, rows_apart(op));
  part.whole_columns = op.signature.outputs[0].elements() / all_rows;
  part.rows = std::move(rows);
  part.columns = std::move(columns);
  return part;
}

bool can_join_rows(const OpInstance& op) {
  const std::int64_t rows = rows_apart(op);
  if (rows < 2 || has_columns_apart(op)) return false;
  const OpInstance fewer =
      with_count(op, op.op->independent_rows, static_cast<std::size_t>(rows - 1));
  return std::ranges::equal(
      op.signature.inputs, fewer.signature.inputs,
      [](const TensorSpec& all, const TensorSpec& less) { return all.shape != less.shape; });
}

PartOfProblem joined(const OpInstance& op, std::span<const PartOfProblem> parts) {
  PartOfProblem all;
  all.whole_columns = parts.front().whole_columns;
  all.inputs.emplace_back();
  for (const PartOfProblem& part : parts) {
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
  }
  all.op = with_count(op, op.op->independent_rows, all.rows.size());
  for (std::size_t i = 0; i < op.signature.inputs.size(); ++i) {
    HostTensor& whole = all.inputs.front().emplace_back(all.op.signature.inputs[i]);
    std::size_t at = 0;
    for (const PartOfProblem& part : parts) {
      const auto bytes = part.inputs.front()[i].bytes();
      std::ranges::copy(bytes, whole.bytes().subspan(at).begin());
      at += bytes.size();
    }
  }
  return all;
}

}  // namespace assay
