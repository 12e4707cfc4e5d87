#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/core/element_functions.h"
#include "kernels/cuda/conversion.cuh"
#include "kernels/cuda/strided.cuh"
#include "kernels/cuda/vector.cuh"

// Elementwise ops: y[i] = f(x[i], ...) for contiguous tensors, or rows with gaps.
namespace assay::cuda {

/// Rows of `cols` elements that start `step` elements apart. A contiguous tensor is one row.
struct Rows {
  std::int64_t count;
  std::int64_t cols;
  std::int64_t step;
};

/// One input of a thread: K vectors of N elements, which are loaded before the first is used. Held
/// as words: their elements, taken apart, need a register each.
template <class X, int N, int K>
struct Loaded {
  const X* from;
  WordOfVector<X, N> held[K];

  __device__ Vector<X, N> at(int k) const { return std::bit_cast<Vector<X, N>>(held[k]); }
};

/// Returns f with all that it reads from the device's memory once a thread.
template <class F>
__device__ auto prepared(const F& f) {
  if constexpr (requires { f.prepared(); }) {
    return f.prepared();
  } else {
    return f;
  }
}

/// Returns a value that each launch reads from the device's memory.
template <class S>
struct Constant {
  struct Value {
    S value;
    __device__ S operator()() const { return value; }
  };
  const S* value;
  __device__ Value prepared() const { return {*value}; }
};

/// Applies f to widened elements and rounds to Y.
template <class Y, int N, class F, class... X>
__device__ Vector<Y, N> mapped(const F& f, const Vector<X, N>&... x) {
  Vector<decltype(f(x.at[0]...)), N> y;
#pragma unroll
  for (int i = 0; i < N; ++i) y.at[i] = f(x.at[i]...);
  return stored<Y>(y);
}

/// Maps the next n vectors, of which each thread along x has up to K.
template <int N, int K, class Y, class F, class... X>
__device__ void map_tile(const F& f, int n, Y* y, Loaded<X, N, K>... x) {
  const int first = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const int i = first + k * step;
    if (i < n) ((x.held[k] = load_word<N>(x.from + i * N)), ...);
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const int i = first + k * step;
    if (i < n) store_vector(y + i * N, mapped<Y, N>(f, widened(x.at(k))...));
  }
}

inline constexpr int map_threads = 256;

/// Vectors of a thread: as many as have 64 bytes of inputs, but few elements, whose code is
/// repeated.
template <int N, class... X>
inline constexpr int vectors_in_flight = [] {
  const int bytes = (0 + ... + (N * static_cast<int>(sizeof(X))));
  const int enough = bytes == 0 ? 4 : (64 + bytes / 2) / bytes;
  return std::clamp(std::min(enough, 64 / N), 1, 8);
}();

/// Maps rows: blocks along x share a row; blocks, and threads, along y have rows of their own. A
/// row consists of vectors and of single elements before the first and after the last. It has no
/// vectors if inputs and output do not start at an equal distance from their next vectors.
template <class Y, class F, class... X>
__global__ void __launch_bounds__(map_threads, 4) map_vectors(F f, Rows rows, Y* y, const X*... x) {
  constexpr int N = vector_elements<Y, X...>;
  constexpr int K = vectors_in_flight<N, X...>;
  const auto function = prepared(f);
  const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;
  for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows.count;
       row += row_step) {
    const std::int64_t start = row * rows.step;
    const int before = elements_before_vector<N>(y + start);
    const bool are_alike = ((elements_before_vector<N>(x + start) == before) && ...);
    const std::int64_t head = are_alike && before < rows.cols ? before : rows.cols;
    const std::int64_t vectors = (rows.cols - head) / N;

    const std::int64_t tile = std::int64_t{blockIdx.x} * blockDim.x * K;
    if (tile < vectors) {
      const auto n = static_cast<int>(std::min<std::int64_t>(vectors - tile, blockDim.x * K));
      const std::int64_t at = start + head + tile * N;
      map_tile<N, K>(function, n, y + at, Loaded<X, N, K>{x + at}...);
    }

    const std::int64_t singles = rows.cols - vectors * N;
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 1
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < singles;
         i += step) {
      const std::int64_t at = start + (i < head ? i : i + vectors * N);
      store_vector(y + at, mapped<Y, 1>(function, widened(load_vector<1>(x + at))...));
    }
  }
}

/// Grid for `rows` rows of `shares` threads each: at least eight threads share a row.
struct MapGrid {
  MapGrid(std::int64_t rows, std::int64_t shares) {
    const auto across = static_cast<unsigned>(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shares))), 8,
        map_threads));
    const unsigned down = map_threads / across;
    threads = dim3(across, down);
    blocks = dim3(static_cast<unsigned>((shares + across - 1) / across),
                  static_cast<unsigned>(std::min<std::int64_t>((rows + down - 1) / down, 65535)));
  }
  dim3 blocks;
  dim3 threads;
};

/// Enqueues f over the elements of the op's output.
template <class Y, class F, class... X>
void map_rows(cudaStream_t stream, const TensorSpec& spec, F f, Y* y, const X*... x) {
  const std::int64_t n = spec.elements();
  if (n == 0) return;
  const Rows rows = spec.is_dense()
                        ? Rows{1, n, n}
                        : Rows{n / spec.row_elements(), spec.row_elements(), spec.row_stride()};
  constexpr int N = vector_elements<Y, X...>;
  constexpr int K = vectors_in_flight<N, X...>;
  const MapGrid grid(rows.count, (rows.cols + N * K - 1) / (N * K));
  map_vectors<<<grid.blocks, grid.threads, 0, stream>>>(f, rows, y, x...);
}

/// Makes elementwise kernels: see Mapped in kernels/device/element_rows.h.
struct Mapper {
  template <class T>
  using Stored = cuda::Stored<T>;

  static std::unique_ptr<Kernel> strided_copy(const OpInstance& op, const Binding& binding) {
    return cuda::strided_copy(op, binding);
  }

  template <class T>
  static const Stored<T>* input(const Binding& binding, std::size_t i) {
    return cuda::input<T>(binding, i);
  }

  template <class Y, class F, class... X>
  static std::unique_ptr<Kernel> kernel_of(F f, const OpInstance& op, const Binding& binding,
                                           const X*... x) {
    return std::make_unique<FunctionKernel>(
        "own kernel of 16-byte words", binding,
        [=, spec = op.signature.outputs[0], y = static_cast<Y*>(binding.outputs[0])](
            cudaStream_t s) { map_rows(s, spec, f, y, x...); });
  }
};

}  // namespace assay::cuda
