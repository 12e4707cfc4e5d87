#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/map.h"

// Reductions along an axis of (outer, n, inner) whose elements lie `inner` apart: columns of
// matrices of n rows. Loops run along the rows, which are contiguous.
namespace assay::cpu {

struct AxisExtents {
  explicit AxisExtents(const TensorSpec& x)
      : n(x.line_elements()), inner(x.line_step()), outer(x.axis ? x.shape[0] : 1) {}
  std::int64_t lines() const { return outer * inner; }
  std::int64_t elements() const { return lines() * n; }

  std::int64_t n;
  std::int64_t inner;
  std::int64_t outer;
};

/// Columns of a matrix that a thread reduces at once, over some of its rows.
struct Columns {
  std::int64_t element;  // the first one of the first row
  std::int64_t line;     // of the first column
  std::int64_t count;
  std::int64_t part;
  std::int64_t first_row;
  std::int64_t rows;
};

/// Divides matrices into columns that caches hold beside the rows, and few matrices also by rows.
class ColumnPlan {
 public:
  ColumnPlan(const AxisExtents& x, std::int64_t element_bytes, std::int64_t threads)
      : x_(x),
        chunks_((x.inner + max_columns - 1) / max_columns),
        is_parallel_(x.elements() * element_bytes > parallel_bytes) {
    const std::int64_t tasks = x.outer * chunks_;
    if (is_parallel_ && tasks < 4 * threads && tasks % threads != 0) {
      parts_ = std::clamp<std::int64_t>(x.n / least_rows, 1, threads);
    }
  }
  bool is_parallel() const { return is_parallel_; }
  std::int64_t parts() const { return parts_; }
  std::int64_t tasks() const { return x_.outer * chunks_ * parts_; }
  Columns task(std::int64_t i) const {
    const std::int64_t part = i % parts_;
    const std::int64_t first = i / parts_ % chunks_ * max_columns;
    const std::int64_t row = x_.n * part / parts_;
    const std::int64_t matrix = i / parts_ / chunks_;
    return {.element = (matrix * x_.n + row) * x_.inner + first,
            .line = matrix * x_.inner + first,
            .count = std::min(max_columns, x_.inner - first),
            .part = part,
            .first_row = row,
            .rows = x_.n * (part + 1) / parts_ - row};
  }

 private:
  static constexpr std::int64_t max_columns = 4096;
  static constexpr std::int64_t least_rows = 64;

  AxisExtents x_;
  std::int64_t chunks_;
  bool is_parallel_;
  std::int64_t parts_ = 1;
};

/// Joins `rows` rows of `count` columns, `step` apart, with what `columns` has.
template <class R, class P, class T>
ASSAY_VECTOR_CLONES void join_rows(P* columns, const T* x, std::int64_t rows, std::int64_t step,
                                   std::int64_t count) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const T* const x0 = x + row * step;
    const T* const x1 = x0 + step;
    const T* const x2 = x1 + step;
    const T* const x3 = x2 + step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const P low = R::join(R::template term<P>(x0[i]), R::template term<P>(x1[i]));
      const P high = R::join(R::template term<P>(x2[i]), R::template term<P>(x3[i]));
      columns[i] = R::join(columns[i], R::join(low, high));
    }
  }
  for (; row < rows; ++row) {
    const T* const here = x + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      columns[i] = R::join(columns[i], R::template term<P>(here[i]));
    }
  }
}

/// Columns that one thread reduces. Short rows are taken several at once, as one that is as long as
/// they are together.
template <class R, class P>
class ColumnReducer {
 public:
  /// Results of the columns.
  template <class T>
  const P* reduce(const T* x, const AxisExtents& extents, const Columns& task) {
    const T* const from = x + task.element;
    const bool is_whole = task.count == extents.inner;
    const std::int64_t at_once =
        is_whole ? std::clamp<std::int64_t>(long_row / task.count, 1,
                                            std::max<std::int64_t>(task.rows, 1))
                 : 1;
    const std::int64_t width = task.count * at_once;
    total_.assign(static_cast<std::size_t>(width), R::template nothing<P>);
    const std::int64_t together = task.rows / at_once;
    const std::int64_t step = extents.inner * at_once;
    // Pieces keep chains of additions short, and so the error small.
    for (std::int64_t row = 0; row < together; row += piece_rows) {
      const std::int64_t rows = std::min(piece_rows, together - row);
      std::vector<P>& piece = row == 0 ? total_ : piece_;
      piece.assign(static_cast<std::size_t>(width), R::template nothing<P>);
      join_rows<R>(piece.data(), from + row * step, rows, step, width);
      if (row == 0) continue;
      for (std::size_t i = 0; i < total_.size(); ++i) total_[i] = R::join(total_[i], piece_[i]);
    }
    join_rows<R>(total_.data(), from + together * step, task.rows - together * at_once,
                 extents.inner, task.count);
    for (std::int64_t i = task.count; i < width; ++i) {
      P& column = total_[static_cast<std::size_t>(i % task.count)];
      column = R::join(column, total_[static_cast<std::size_t>(i)]);
    }
    return total_.data();
  }

 private:
  static constexpr std::int64_t long_row = 256;
  static constexpr std::int64_t piece_rows = 128;

  std::vector<P> total_;
  std::vector<P> piece_;
};

/// Reduces each line of x by R, and calls `finish(line, result)`.
template <class R, class P, class T, class Finish>
void reduce_columns(const AxisExtents& extents, const T* x, const Finish& finish) {
  const ColumnPlan plan(extents, sizeof(T), omp_get_max_threads());
  std::vector<P> partial;
  if (plan.parts() > 1) partial.resize(static_cast<std::size_t>(plan.parts() * extents.lines()));
#pragma omp parallel if (plan.is_parallel())
  {
    ColumnReducer<R, P> reducer;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < plan.tasks(); ++i) {
      const Columns task = plan.task(i);
      const P* const results = reducer.reduce(x, extents, task);
      if (plan.parts() > 1) {
        std::copy_n(results, task.count,
                    &partial[static_cast<std::size_t>(task.part * extents.lines() + task.line)]);
        continue;
      }
      for (std::int64_t j = 0; j < task.count; ++j) finish(task.line + j, results[j]);
    }
  }
  if (plan.parts() == 1) return;
  for (std::int64_t line = 0; line < extents.lines(); ++line) {
    P total = R::template nothing<P>;
    for (std::int64_t part = 0; part < plan.parts(); ++part) {
      total = R::join(total, partial[static_cast<std::size_t>(part * extents.lines() + line)]);
    }
    finish(line, total);
  }
}

}  // namespace assay::cpu
