#include <cub/block/block_reduce.cuh>
#include <limits>

#include "kernels/cuda/storage_types.cuh"

// Softmax and layernorm: a warp for each short row, a block for each long one. Each step reads the
// row again; after the first it comes from a cache.
namespace assay::cuda {
namespace {

constexpr int warp = 32;
constexpr int block_threads = 256;
/// Longest row for which a warp is enough.
constexpr std::int64_t short_row = 1024;

struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

/// A NaN may or may not become the maximum. Either way it reaches the sum, and so every element.
struct Greater {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a > b ? a : b;
  }
};

/// Threads that work on one row. All threads of a block are at the same step.
template <int Threads>
struct Team {
  static constexpr int per_block = block_threads / Threads;

  __device__ static int rank() { return static_cast<int>(threadIdx.x) % Threads; }
  __device__ static std::int64_t row() {
    return std::int64_t{blockIdx.x} * per_block + threadIdx.x / Threads;
  }

  /// Joins `own` of all threads of the team, and returns the result to all of them.
  template <class C, class Join>
  __device__ static C all(C own, Join join) {
    if constexpr (Threads == warp) {
      for (int distance = warp / 2; distance > 0; distance /= 2) {
        own = join(own, __shfl_xor_sync(0xffffffff, own, distance));
      }
      return own;
    } else {
      using Reduce = cub::BlockReduce<C, Threads>;
      __shared__ typename Reduce::TempStorage shared;
      __shared__ C result;
      const C total = Reduce(shared).Reduce(own, join);
      if (threadIdx.x == 0) result = total;
      __syncthreads();
      const C found = result;
      __syncthreads();  // `shared` is used again
      return found;
    }
  }
};

/// Rows of `cols` elements, `step` apart.
struct Rows {
  explicit Rows(const TensorSpec& spec)
      : rows(spec.shape[0]),
        cols(spec.shape[1]),
        step(spec.has_gaps() ? spec.row_stride : spec.shape[1]) {}
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t step;
};

template <int Threads, class S>
__global__ void softmax_rows(const S* x, S* y, Rows r) {
  using C = Computed<S>;
  using T = Team<Threads>;
  // Rows past the end compute the last row and do not write it, so that teams stay together.
  const bool is_row = T::row() < r.rows;
  const std::int64_t row = is_row ? T::row() : r.rows - 1;
  const S* from = x + row * r.step;
  S* to = y + row * r.step;
  C own = -std::numeric_limits<C>::infinity();
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads) own = Greater{}(own, widened(from[i]));
  const C maximum = T::all(own, Greater{});
  C part = 0;
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads)
    part += exp(widened(from[i]) - maximum);
  const C sum = T::all(part, Plus{});
  if (!is_row) return;
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads) {
    to[i] = static_cast<S>(exp(widened(from[i]) - maximum) / sum);
  }
}

/// Computes the variance in a second pass over the row. One pass, the mean of squares less the
/// square of the mean, cancels.
template <int Threads, class S>
__global__ void layernorm_rows(const S* x, const S* weight, const S* bias, S* y, Rows r) {
  using C = Computed<S>;
  using T = Team<Threads>;
  const bool is_row = T::row() < r.rows;
  const std::int64_t row = is_row ? T::row() : r.rows - 1;
  const S* from = x + row * r.step;
  S* to = y + row * r.step;
  const auto n = static_cast<C>(r.cols);
  C part = 0;
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads) part += widened(from[i]);
  const C mean = T::all(part, Plus{}) / n;
  part = 0;
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads) {
    const C distance = widened(from[i]) - mean;
    part += distance * distance;
  }
  const C deviation = sqrt(T::all(part, Plus{}) / n + C(1e-5));
  if (!is_row) return;
  for (std::int64_t i = T::rank(); i < r.cols; i += Threads) {
    to[i] = static_cast<S>((widened(from[i]) - mean) / deviation * widened(weight[i]) +
                           widened(bias[i]));
  }
}

/// Calls `launch(std::integral_constant<int, Threads>{}, blocks)` with teams that fit the rows.
template <class Launch>
void with_teams(const Rows& r, const Launch& launch) {
  const auto go = [&](auto threads) {
    constexpr int per_block = Team<threads()>::per_block;
    launch(threads, static_cast<unsigned>((r.rows + per_block - 1) / per_block));
  };
  if (r.cols <= short_row) {
    go(std::integral_constant<int, warp>{});
  } else {
    go(std::integral_constant<int, block_threads>{});
  }
}

std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding) {
  const Rows r(op.signature.outputs[0]);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return std::make_unique<FunctionKernel>(
        "a warp or a block for each row", binding,
        [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
          with_teams(r, [&](auto threads, unsigned blocks) {
            softmax_rows<threads()><<<blocks, block_threads, 0, stream>>>(x, y, r);
          });
        });
  });
}

std::unique_ptr<Kernel> layernorm(const OpInstance& op, const Binding& binding) {
  const Rows r(op.signature.outputs[0]);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return std::make_unique<FunctionKernel>(
        "a warp or a block for each row", binding,
        [=, x = input<T>(binding, 0), weight = input<T>(binding, 1), bias = input<T>(binding, 2),
         y = output<T>(binding)](cudaStream_t stream) {
          with_teams(r, [&](auto threads, unsigned blocks) {
            layernorm_rows<threads()><<<blocks, block_threads, 0, stream>>>(x, weight, bias, y, r);
          });
        });
  });
}

constexpr KernelRow rows[] = {
    {"softmax", softmax},
    {"layernorm", layernorm},
};

}  // namespace

std::span<const KernelRow> rowwise_kernels() { return rows; }

}  // namespace assay::cuda
