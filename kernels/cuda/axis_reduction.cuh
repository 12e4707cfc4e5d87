#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

// Reduction of (outer, n, inner) along n to (outer, inner): lines that lie side by side, or one
// behind the other. Neighbouring threads read neighbouring vectors, whatever `inner` is.
namespace assay::cuda {

inline constexpr int axis_threads = 256;
/// Loads of a thread that are under way before it joins their elements.
inline constexpr int axis_loads = 4;

/// Elements of a vector: of lines side by side one each, of a line for itself some.
template <class S>
inline constexpr int axis_width = std::min(vector_elements<S>, 8);

/// Division of the work among teams of threads, in vectors. A team takes `columns` of them that lie
/// side by side, and of each of these one of `parts` parts, several rows at once.
struct AxisPlan {
  /// Divides x in vectors of `width` elements, or in single ones where these do not fit.
  AxisPlan(const TensorSpec& x, bool is_aligned, int width, int multiprocessors);
  /// Plan that joins the parts, element by element.
  AxisPlan of_parts() const { return {outer, parts, is_one_line ? 1 : inner * width, 1, 1, false}; }

  int rows_at_once() const { return team / columns; }
  std::int64_t tasks() const { return outer * chunks * parts; }
  unsigned blocks() const {
    const std::int64_t teams = axis_threads / team;
    return static_cast<unsigned>((tasks() + teams - 1) / teams);
  }

  std::int64_t outer;
  std::int64_t n;
  std::int64_t inner;
  std::int64_t parts;
  std::int64_t chunks;
  int width;
  bool is_one_line;  // whose elements a vector has
  int team;
  int columns;

 private:
  AxisPlan(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t parts, int width,
           bool is_one_line);
};

inline AxisPlan::AxisPlan(std::int64_t outer, std::int64_t n, std::int64_t inner,
                          std::int64_t parts, int width, bool is_one_line)
    : outer(outer),
      n(n),
      inner(inner),
      parts(parts),
      width(width),
      is_one_line(is_one_line),
      team(axis_threads) {
  // Few rows are worth few threads. A warp reads side by side, and others of its team other rows.
  while (team > warp_threads && n * std::min<std::int64_t>(inner, team) <= team * axis_loads)
    team /= 2;
  chunks = (inner + warp_threads - 1) / warp_threads;
  columns = static_cast<int>((inner + chunks - 1) / chunks);
}

inline AxisPlan::AxisPlan(const TensorSpec& x, bool is_aligned, int width, int multiprocessors)
    : AxisPlan(x.shape[0], x.line_elements(), x.line_step(), 1, 1, false) {
  if (is_aligned && width > 1 && inner % width == 0) {
    *this = {outer, n, inner / width, 1, width, false};
  } else if (is_aligned && width > 1 && inner == 1 && n % width == 0) {
    *this = {outer, n / width, 1, 1, width, true};
  }
  // As many blocks as fill a GPU, and no chains so long that their errors add up.
  constexpr std::int64_t least_rows = 16, longest_chain = std::int64_t{1} << 16;
  const std::int64_t wanted = std::int64_t{8} * multiprocessors / std::max(1U, blocks());
  const std::int64_t most = n / (rows_at_once() * least_rows);
  parts = std::max({std::int64_t{1}, std::min(wanted, most), n / rows_at_once() / longest_chain});
}

template <class X>
struct OneElement {
  X at[1];
};

/// Share of a thread of (outer, n, inner) in vectors.
struct AxisShare {
  __device__ explicit AxisShare(const AxisPlan& plan)
      : columns(plan.columns), rows_at_once(plan.team / plan.columns) {
    const int rank = threadIdx.x & (plan.team - 1);  // teams are powers of two
    row = rank / columns;
    const std::int64_t task = (std::int64_t{blockIdx.x} * axis_threads + threadIdx.x) / plan.team;
    const std::int64_t part = task % plan.parts;
    column = task / plan.parts % plan.chunks * columns + rank % columns;
    const std::int64_t outer = task / plan.parts / plan.chunks;
    is_inside = outer < plan.outer && column < plan.inner && row < rows_at_once;
    first = outer * plan.n * plan.inner + column;
    begin = plan.n * part / plan.parts + row;
    end = plan.n * (part + 1) / plan.parts;
    line = outer * plan.inner + column;
    part_of_line = (outer * plan.parts + part) * plan.inner + column;
  }

  int columns;
  int rows_at_once;
  int row;              // of those at once
  std::int64_t column;  // of vectors
  bool is_inside;
  std::int64_t first;  // vector of the first row
  std::int64_t begin;  // rows: these, rows_at_once apart
  std::int64_t end;
  std::int64_t line;
  std::int64_t part_of_line;
};

/// Loads a vector, or the one element of a narrow one.
template <int width, class X>
__device__ auto load_lanes(const X* from) {
  if constexpr (width == 1) {
    return OneElement<X>{{*from}};
  } else {
    return load_vector<width>(from);
  }
}

/// Leaves elements of Y, or partial results for a second launch in `parts`. Reads elements of S, or
/// such partial results. `n`: number of elements behind one of Y.
template <class R, class S, int width, bool reads_parts, class Y>
__global__ void __launch_bounds__(axis_threads)
    reduce_axis(AxisPlan plan,
                const std::conditional_t<reads_parts, typename R::template Partial<S>, S>* x,
                std::int64_t n, Y* y, typename R::template Partial<S>* parts) {
  using P = typename R::template Partial<S>;
  using X = std::conditional_t<reads_parts, P, S>;
  __shared__ P shared[width][axis_threads];
  const AxisShare share(plan);
  const int row = share.row;
  const int rows_at_once = share.rows_at_once;
  P total[width];
  for (P& one : total) one = R::template nothing<S>();
  if (share.is_inside) {
    const X* const from = x + share.first * width;
    const auto load = [&](std::int64_t at) {
      return load_lanes<width>(from + at * plan.inner * width);
    };
    const auto element = [&](std::int64_t at, int lane, X own) -> P {
      if constexpr (reads_parts) {
        return own;
      } else if constexpr (requires { R::template of_place<P>(at, own); }) {
        return R::template of_place<P>(plan.is_one_line ? at * width + lane : at, own);
      } else {
        return R::template of_elements<P>(0, own);
      }
    };
    const auto join_row = [&](std::int64_t at) {
      const auto own = load(at);
#pragma unroll
      for (int lane = 0; lane < width; ++lane)
        total[lane] = R::join(total[lane], element(at, lane, own.at[lane]));
    };
    const auto join_rows = [&](std::int64_t at) {
      decltype(load(at)) own[axis_loads];
#pragma unroll
      for (int k = 0; k < axis_loads; ++k) own[k] = load(at + k * rows_at_once);
#pragma unroll
      for (int lane = 0; lane < width; ++lane) {
        const auto nth = [&](int k) {
          return element(at + k * rows_at_once, lane, own[k].at[lane]);
        };
        if constexpr (!reads_parts && requires(P p) { R::with(p, p, p, p, p); }) {
          total[lane] = R::with(total[lane], nth(0), nth(1), nth(2), nth(3));
        } else {
          total[lane] =
              R::join(total[lane], R::join(R::join(nth(0), nth(1)), R::join(nth(2), nth(3))));
        }
      }
    };
    const std::int64_t end = share.end;
    std::int64_t at = share.begin;
    if (at < end) join_row(at);
    for (at += rows_at_once; at + (axis_loads - 1) * rows_at_once < end;
         at += axis_loads * rows_at_once)
      join_rows(at);
    for (; at < end; at += rows_at_once) join_row(at);
  }
#pragma unroll
  for (int lane = 0; lane < width; ++lane) shared[lane][threadIdx.x] = total[lane];
  for (int rows = rows_at_once; rows > 1;) {
    const int half = (rows + 1) / 2;
    __syncthreads();
    if (row + half < rows) {
#pragma unroll
      for (int lane = 0; lane < width; ++lane) {
        P& own = shared[lane][threadIdx.x];
        own = R::join(own, shared[lane][threadIdx.x + half * share.columns]);
      }
    }
    rows = half;
  }
  if (!share.is_inside || row > 0) return;
  const auto leave = [&](std::int64_t at, const P& result) {
    if (parts != nullptr) {
      parts[at] = result;
    } else {
      y[at] = static_cast<Y>(R::last_step(result, n));
    }
  };
  const std::int64_t line = share.part_of_line;
  if (plan.is_one_line) {
    P result = shared[0][threadIdx.x];
#pragma unroll
    for (int lane = 1; lane < width; ++lane) result = R::join(result, shared[lane][threadIdx.x]);
    leave(line, result);
    return;
  }
#pragma unroll
  for (int lane = 0; lane < width; ++lane) leave(line * width + lane, shared[lane][threadIdx.x]);
}

/// Reduces a tensor along its axis.
template <class R, class S>
class AxisReduction {
 public:
  static constexpr int width = axis_width<S>;

  /// `is_aligned`: x, and what is written beside it, may be read in vectors of `width`.
  AxisReduction(const TensorSpec& spec, const S* x, bool is_aligned, const Binding& binding)
      : x_(x),
        n_(spec.line_elements()),
        plan_(spec, is_aligned, width, multiprocessors(binding)),
        joined_(plan_.of_parts()),
        parts_(std::make_shared<Workspace>(
            plan_.parts > 1
                ? static_cast<std::size_t>(plan_.outer * plan_.parts * joined_.inner) * sizeof(P)
                : 1)) {}

  const AxisPlan& plan() const { return plan_; }

  /// Enqueues it.
  template <class Y>
  void operator()(cudaStream_t stream, Y* y) const {
    P* const parts = plan_.parts > 1 ? static_cast<P*>(parts_->data()) : nullptr;
    if (plan_.width > 1) {
      reduce_axis<R, S, width, false>
          <<<plan_.blocks(), axis_threads, 0, stream>>>(plan_, x_, n_, y, parts);
    } else {
      reduce_axis<R, S, 1, false>
          <<<plan_.blocks(), axis_threads, 0, stream>>>(plan_, x_, n_, y, parts);
    }
    if (parts == nullptr) return;
    reduce_axis<R, S, 1, true>
        <<<joined_.blocks(), axis_threads, 0, stream>>>(joined_, parts, n_, y, nullptr);
  }

 private:
  using P = typename R::template Partial<S>;

  const S* x_;
  std::int64_t n_;
  AxisPlan plan_;
  AxisPlan joined_;
  std::shared_ptr<Workspace> parts_;
};

/// Makes a kernel that reduces along the axis of input 0.
template <class R, class S, class Y>
std::unique_ptr<Kernel> reduce_along(const OpInstance& op, const Binding& binding, const S* x,
                                     Y* y) {
  return std::make_unique<FunctionKernel>(
      "own kernel, along an axis", binding,
      [y, reduction =
              AxisReduction<R, S>(op.signature.inputs[0], x, is_vector_aligned<axis_width<S>>(x),
                                  binding)](cudaStream_t stream) { reduction(stream, y); });
}

}  // namespace assay::cuda
