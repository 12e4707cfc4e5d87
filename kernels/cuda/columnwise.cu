#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/block_join.cuh"
#include "kernels/cuda/device.h"
#include "kernels/cuda/exponentials.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/rowwise.h"
#include "kernels/cuda/storage_types.cuh"

// Softmax and layernorm along the axis n of (outer, n, inner). Neighbouring threads have
// neighbouring columns, and of each column several rows. Lines of neighbouring elements are rows.
namespace assay::cuda {
namespace {

constexpr int column_threads = 256;

/// Lines of n elements, `inner` apart. A block takes `across` of them, a power of two: enough for
/// threads that read side by side, and more if lines are short.
struct Columns {
  explicit Columns(const Shape& shape) : n(shape[1]), inner(shape[2]), lines(shape[0] * shape[2]) {
    constexpr std::int64_t most = column_threads;
    const auto power_of_two = [](std::int64_t least) {
      return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(least)));
    };
    across = std::max(power_of_two(std::min<std::int64_t>(inner, warp_threads)),
                      column_threads / power_of_two(std::min(n, most)));
    groups = (lines + across - 1) / across;
  }
  unsigned blocks() const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return static_cast<unsigned>(std::min(groups, most));
  }

  std::int64_t n;
  std::int64_t inner;
  std::int64_t lines;
  int across;
  std::int64_t groups;
};

/// A thread's elements of a line.
struct OwnRows {
  __device__ OwnRows(const Columns& columns, std::int64_t group)
      : columns(columns), row(static_cast<int>(threadIdx.x) / columns.across) {
    const std::int64_t line = group * columns.across + threadIdx.x % columns.across;
    first = line / columns.inner * columns.n * columns.inner + line % columns.inner;
    is_inside = line < columns.lines;
  }

  /// Calls f(element, place) for each.
  template <class F>
  __device__ void for_each(const F& f) const {
    if (!is_inside) return;
    for (std::int64_t place = row; place < columns.n; place += step())
      f(first + place * columns.inner, place);
  }

  /// Calls four(x, x, x, x) for the elements of x as far as there are so many, and one(x) for the
  /// others: loads of four are under way at once.
  template <class S, class Four, class One>
  __device__ void for_fours(const S* x, const Four& four, const One& one) const {
    if (!is_inside) return;
    const auto element = [&](std::int64_t place) {
      return widened(x[first + place * columns.inner]);
    };
    std::int64_t place = row;
    for (; place + 3 * step() < columns.n; place += 4 * step())
      four(element(place), element(place + step()), element(place + 2 * step()),
           element(place + 3 * step()));
    for (; place < columns.n; place += step()) one(element(place));
  }

  __device__ int step() const { return column_threads / columns.across; }

  /// Sum over the column, for all of its threads. All threads of the block call it.
  template <class P>
  __device__ P sum(P own) const {
    __shared__ P of_threads[column_threads];
    __syncthreads();  // until all have read what was there before
    of_threads[threadIdx.x] = own;
    for (int half = column_threads / columns.across / 2; half > 0; half /= 2) {
      __syncthreads();
      if (row < half)
        of_threads[threadIdx.x] =
            of_threads[threadIdx.x] + of_threads[threadIdx.x + half * columns.across];
    }
    __syncthreads();
    return of_threads[threadIdx.x % columns.across];
  }

  const Columns& columns;
  int row;
  std::int64_t first;
  bool is_inside;
};

template <class S>
__global__ void __launch_bounds__(column_threads)
    softmax_columns(Columns columns, const S* x, S* y) {
  using C = Computed<S>;
  for (std::int64_t group = blockIdx.x; group < columns.groups; group += gridDim.x) {
    const OwnRows rows(columns, group);
    Exponentials<C> own{-std::numeric_limits<C>::infinity(), 0};
    rows.for_fours(
        x, [&](C a, C b, C c, C d) { own = own.with(a, b, c, d); },
        [&](C a) { own = own + Exponentials<C>::of(a); });
    const Exponentials<C> all = rows.sum(own);
    // Infinity less itself: no number of the column has a share.
    const C scale = isinf(all.greatest) ? std::numeric_limits<C>::quiet_NaN() : 1 / all.sum;
    rows.for_each([&](std::int64_t at, std::int64_t) {
      y[at] = static_cast<S>(exp(widened(x[at]) - all.greatest) * scale);
    });
  }
}

/// Computes the variance from differences to the mean, which do not cancel.
template <class S>
__global__ void __launch_bounds__(column_threads)
    layernorm_columns(Columns columns, const S* x, const S* weight, const S* bias, S* y) {
  using C = Computed<S>;
  for (std::int64_t group = blockIdx.x; group < columns.groups; group += gridDim.x) {
    const OwnRows rows(columns, group);
    const auto n = static_cast<C>(columns.n);
    C sum = 0;
    rows.for_fours(
        x, [&](C a, C b, C c, C d) { sum += (a + b) + (c + d); }, [&](C a) { sum += a; });
    const C mean = rows.sum(sum) / n;
    C squares = 0;
    const auto square = [&](C a) { return (a - mean) * (a - mean); };
    rows.for_fours(
        x,
        [&](C a, C b, C c, C d) { squares += (square(a) + square(b)) + (square(c) + square(d)); },
        [&](C a) { squares += square(a); });
    const C scale = 1 / sqrt(rows.sum(squares) / n + C(1e-5));
    rows.for_each([&](std::int64_t at, std::int64_t place) {
      const C own = (widened(x[at]) - mean) * scale * widened(weight[place]);
      y[at] = static_cast<S>(own + widened(bias[place]));
    });
  }
}

constexpr const char* implementation = "own kernel, threads down the columns";

bool has_rows(const OpInstance& op) { return op.signature.outputs[0].shape[2] == 1; }

std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding) {
  if (has_rows(op)) return softmax_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    const Columns columns(op.signature.outputs[0].shape);
    return std::make_unique<FunctionKernel>(
        implementation, binding,
        [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
          softmax_columns<<<columns.blocks(), column_threads, 0, stream>>>(columns, x, y);
        });
  });
}

std::unique_ptr<Kernel> layernorm(const OpInstance& op, const Binding& binding) {
  if (has_rows(op)) return layernorm_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    const Columns columns(op.signature.outputs[0].shape);
    return std::make_unique<FunctionKernel>(
        implementation, binding,
        [=, x = input<T>(binding, 0), weight = input<T>(binding, 1), bias = input<T>(binding, 2),
         y = output<T>(binding)](cudaStream_t stream) {
          layernorm_columns<<<columns.blocks(), column_threads, 0, stream>>>(columns, x, weight,
                                                                             bias, y);
        });
  });
}

constexpr KernelRow rows[] = {
    {"softmax_axis", softmax},
    {"layernorm_axis", layernorm},
};

}  // namespace

std::span<const KernelRow> columnwise_kernels() { return rows; }

}  // namespace assay::cuda
