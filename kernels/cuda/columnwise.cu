#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/cuda/axis_reduction.cuh"
#include "kernels/cuda/device.h"
#include "kernels/cuda/exponentials.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/rowwise.h"
#include "kernels/cuda/storage_types.cuh"

// Softmax and layernorm along the axis n of (outer, n, inner): a reduction of the lines, and then
// their elements. Lines of neighbouring elements are rows.
namespace assay::cuda {
namespace {

/// A number of a line becomes what `Op::result` says of it and of the line.
template <class S>
struct Softmax {
  using C = Computed<S>;
  using Reduction = SumOfExponentials;
  struct Line {
    C shift;
    C scale;
  };

  /// Infinity less itself: no number of the line has a share.
  __device__ Line line(const Exponentials<C>& all) const {
    return {all.greatest, isinf(all.greatest) ? std::numeric_limits<C>::quiet_NaN() : 1 / all.sum};
  }
  __device__ C result(const Line& line, C x, std::int64_t /*place*/) const {
    return exp(x - line.shift) * line.scale;
  }
};

struct MomentsOfLine : Sum {
  template <class S>
  using Partial = Moments<Computed<S>>;
  template <class S>
  static __device__ Partial<S> nothing() {
    return {};
  }
  template <class P, class S>
  static __device__ P of_elements(unsigned /*tile*/, S x) {
    return {1, widened(x), 0};
  }
  /// Joins four elements, each of which is its own mean.
  template <class P>
  static __device__ P with(P before, P a, P b, P c, P d) {
    const auto mean = ((a.mean + b.mean) + (c.mean + d.mean)) / 4;
    const auto square = [=](const P& one) { return (one.mean - mean) * (one.mean - mean); };
    return before + P{4, mean, (square(a) + square(b)) + (square(c) + square(d))};
  }
};

template <class S>
struct Layernorm {
  using C = Computed<S>;
  using Reduction = MomentsOfLine;
  struct Line {
    C mean;
    C scale;
  };
  const S* weight;
  const S* bias;

  __device__ Line line(const Moments<C>& all) const {
    return {all.mean, 1 / sqrt(all.squares / all.count + C(1e-5))};
  }
  __device__ C result(const Line& line, C x, std::int64_t place) const {
    return (x - line.mean) * line.scale * widened(weight[place]) + widened(bias[place]);
  }
};

/// `all`: what the reduction found of each line.
template <class Op, class S, int width>
__global__ void __launch_bounds__(axis_threads)
    apply_along(AxisPlan plan, Op op, const S* x,
                const typename Op::Reduction::template Partial<S>* all, S* y) {
  const AxisShare share(plan);
  if (!share.is_inside) return;
  typename Op::Line line[width];
#pragma unroll
  for (int lane = 0; lane < width; ++lane) line[lane] = op.line(all[share.line * width + lane]);
  const auto offset = [&](std::int64_t at) { return (share.first + at * plan.inner) * width; };
  const auto leave = [&](std::int64_t at, const auto& own) {
    Vector<S, width> results;
#pragma unroll
    for (int lane = 0; lane < width; ++lane)
      results.at[lane] = static_cast<S>(op.result(line[lane], widened(own.at[lane]), at));
    store_vector(y + offset(at), results);
  };
  std::int64_t at = share.begin;
  const int step = share.rows_at_once;
  for (; at + (axis_loads - 1) * step < share.end; at += axis_loads * step) {
    decltype(load_lanes<width>(x)) own[axis_loads];
#pragma unroll
    for (int k = 0; k < axis_loads; ++k) own[k] = load_lanes<width>(x + offset(at + k * step));
#pragma unroll
    for (int k = 0; k < axis_loads; ++k) leave(at + k * step, own[k]);
  }
  for (; at < share.end; at += step) leave(at, load_lanes<width>(x + offset(at)));
}

template <class Op, class S>
std::unique_ptr<Kernel> along(const OpInstance& op, const Binding& binding, const Op& applied,
                              const S* x, S* y) {
  using Reduction = AxisReduction<typename Op::Reduction, S>;
  using P = typename Op::Reduction::template Partial<S>;
  constexpr int width = Reduction::width;
  const bool is_aligned = is_vector_aligned<width>(x) && is_vector_aligned<width>(y);
  const TensorSpec& spec = op.signature.inputs[0];
  const auto lines = static_cast<std::size_t>(spec.elements() / spec.line_elements());
  return std::make_unique<FunctionKernel>(
      "own kernels, statistics of columns first", binding,
      [=, reduction = Reduction(spec, x, is_aligned, binding),
       memory = std::make_shared<Workspace>(lines * sizeof(P))](cudaStream_t stream) {
        auto* const all = static_cast<P*>(memory->data());
        reduction(stream, all);
        const AxisPlan& plan = reduction.plan();
        if (plan.width > 1) {
          apply_along<Op, S, width>
              <<<plan.blocks(), axis_threads, 0, stream>>>(plan, applied, x, all, y);
        } else {
          apply_along<Op, S, 1>
              <<<plan.blocks(), axis_threads, 0, stream>>>(plan, applied, x, all, y);
        }
      });
}

bool has_rows(const OpInstance& op) { return op.signature.outputs[0].shape[2] == 1; }

std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding) {
  if (has_rows(op)) return softmax_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return along(op, binding, Softmax<Stored<T>>{}, input<T>(binding, 0), output<T>(binding));
  });
}

std::unique_ptr<Kernel> layernorm(const OpInstance& op, const Binding& binding) {
  if (has_rows(op)) return layernorm_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return along(op, binding, Layernorm<Stored<T>>{input<T>(binding, 1), input<T>(binding, 2)},
                 input<T>(binding, 0), output<T>(binding));
  });
}

constexpr KernelRow rows[] = {
    {"softmax_axis", softmax},
    {"layernorm_axis", layernorm},
};

}  // namespace

std::span<const KernelRow> columnwise_kernels() { return rows; }

}  // namespace assay::cuda
