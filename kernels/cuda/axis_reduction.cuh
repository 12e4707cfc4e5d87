#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"

// Reduction of (outer, n, inner) along n to (outer, inner): lines that lie side by side, or one
// behind the other. Neighbouring threads read neighbouring elements, whatever `inner` is.
namespace assay::cuda {

inline constexpr int axis_threads = 256;

/// Division of the work among teams of threads. A team takes `columns` lines that lie side by side,
/// and of each of them one of `parts` parts, several rows at once.
struct AxisPlan {
  AxisPlan(const TensorSpec& x, int multiprocessors);
  /// Plan that joins the parts.
  AxisPlan of_parts() const { return {outer, parts, inner, 1}; }

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
  int team;
  int columns;

 private:
  AxisPlan(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t parts);
};

inline AxisPlan::AxisPlan(std::int64_t outer, std::int64_t n, std::int64_t inner,
                          std::int64_t parts)
    : outer(outer), n(n), inner(inner), parts(parts), team(axis_threads) {
  // Few elements are worth few threads.
  constexpr std::int64_t least_elements = 4;
  while (team > warp_threads && n * std::min<std::int64_t>(inner, team) <= team * least_elements)
    team /= 2;
  columns = static_cast<int>(std::min<std::int64_t>(inner, team));
  chunks = (inner + columns - 1) / columns;
}

inline AxisPlan::AxisPlan(const TensorSpec& x, int multiprocessors)
    : AxisPlan(x.shape[0], x.line_elements(), x.line_step(), 1) {
  // As many blocks as fill a GPU, and no chains so long that their errors add up.
  constexpr std::int64_t least_rows = 16, longest_chain = std::int64_t{1} << 16;
  const std::int64_t wanted = std::int64_t{8} * multiprocessors / std::max(1U, blocks());
  const std::int64_t most = n / (rows_at_once() * least_rows);
  parts = std::max({std::int64_t{1}, std::min(wanted, most), n / rows_at_once() / longest_chain});
}

/// Reads elements of S, or partial results of them, and leaves elements of Y, or partial results.
/// `n`: number of elements behind one of Y.
template <class R, class S, bool reads_parts, bool leaves_parts, class X, class Y>
__global__ void __launch_bounds__(axis_threads)
    reduce_axis(AxisPlan plan, const X* x, std::int64_t n, Y* y) {
  using P = typename R::template Partial<S>;
  __shared__ P shared[axis_threads];
  const int rank = threadIdx.x & (plan.team - 1);  // teams are powers of two
  const int columns = plan.columns;
  const int rows_at_once = plan.team / columns;
  const int row = rank / columns;
  const std::int64_t task = (std::int64_t{blockIdx.x} * axis_threads + threadIdx.x) / plan.team;
  const std::int64_t part = task % plan.parts;
  const std::int64_t column = task / plan.parts % plan.chunks * columns + rank % columns;
  const std::int64_t outer = task / plan.parts / plan.chunks;
  const bool is_inside = outer < plan.outer && column < plan.inner && row < rows_at_once;
  P total = R::template nothing<S>();
  if (is_inside) {
    constexpr int chains = 4;
    P chain[chains];
    for (P& one : chain) one = total;
    const X* const from = x + outer * plan.n * plan.inner + column;
    const auto element = [&](std::int64_t at) {
      const X own = from[at * plan.inner];
      if constexpr (reads_parts) {
        return own;
      } else if constexpr (requires { R::template of_place<P>(at, own); }) {
        return R::template of_place<P>(at, own);
      } else {
        return R::template of_elements<P>(0, own);
      }
    };
    const std::int64_t end = plan.n * (part + 1) / plan.parts;
    std::int64_t at = plan.n * part / plan.parts + row;
    for (; at + (chains - 1) * rows_at_once < end; at += chains * rows_at_once) {
#pragma unroll
      for (int k = 0; k < chains; ++k) chain[k] = R::join(chain[k], element(at + k * rows_at_once));
    }
    for (; at < end; at += rows_at_once) chain[0] = R::join(chain[0], element(at));
    total = R::join(R::join(chain[0], chain[1]), R::join(chain[2], chain[3]));
  }
  shared[threadIdx.x] = total;
  for (int rows = rows_at_once; rows > 1;) {
    const int half = (rows + 1) / 2;
    __syncthreads();
    if (row + half < rows)
      shared[threadIdx.x] = R::join(shared[threadIdx.x], shared[threadIdx.x + half * columns]);
    rows = half;
  }
  if (!is_inside || row > 0) return;
  Y& result = y[(outer * plan.parts + part) * plan.inner + column];
  if constexpr (leaves_parts) {
    result = shared[threadIdx.x];
  } else {
    result = static_cast<Y>(R::last_step(shared[threadIdx.x], n));
  }
}

/// Makes a kernel that reduces along the axis of input 0.
template <class R, class S, class Y>
std::unique_ptr<Kernel> reduce_along(const OpInstance& op, const Binding& binding, const S* x,
                                     Y* y) {
  using P = typename R::template Partial<S>;
  const AxisPlan plan(op.signature.inputs[0], multiprocessors(binding));
  const auto partials = std::make_shared<Workspace>(
      plan.parts > 1 ? static_cast<std::size_t>(plan.outer * plan.parts * plan.inner) * sizeof(P)
                     : 1);
  return std::make_unique<FunctionKernel>(
      "own kernel, along an axis", binding, [=](cudaStream_t stream) {
        auto* parts = static_cast<P*>(partials->data());
        if (plan.parts == 1) {
          reduce_axis<R, S, false, false>
              <<<plan.blocks(), axis_threads, 0, stream>>>(plan, x, plan.n, y);
          return;
        }
        reduce_axis<R, S, false, true>
            <<<plan.blocks(), axis_threads, 0, stream>>>(plan, x, plan.n, parts);
        const AxisPlan joined = plan.of_parts();
        reduce_axis<R, S, true, false>
            <<<joined.blocks(), axis_threads, 0, stream>>>(joined, parts, plan.n, y);
      });
}

}  // namespace assay::cuda
