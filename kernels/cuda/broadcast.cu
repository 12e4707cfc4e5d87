#include <cstddef>
#include <tuple>
#include <utility>

#include "kernels/cuda/map.cuh"
#include "kernels/device/element_rows.h"

// Elementwise ops of which one operand is repeated along the middle of three extents.
namespace assay::cuda {
namespace {

/// Lines of `cols` elements: rows, or whole matrices of short rows. Line i uses repeated elements
/// from i / sharing * period on, and begins them again after `period`.
struct Lines {
  std::int64_t count;
  std::int64_t cols;
  std::int64_t sharing;
  std::int64_t period;
};

/// Fewer elements than of a warp are no line.
constexpr std::int64_t least_cols = 32;

Lines lines_of(const Shape& shape) {
  const std::int64_t outer = shape[0];
  const std::int64_t n = shape[1];
  const std::int64_t inner = shape[2];
  return inner < least_cols ? Lines{outer, n * inner, 1, inner} : Lines{outer * n, inner, n, inner};
}

template <class X>
struct Operand {
  const X* elements;
  bool is_repeated;
};

/// A line of an operand, and the vectors of it that a thread has loaded.
template <class X, int N, int K>
struct OperandLine {
  const X* from;
  std::int64_t period;  // 0: its elements are not repeated
  WordOfVector<X, N> held[K];

  __device__ OperandLine(const Operand<X>& operand, const Lines& lines, std::int64_t line)
      : from(operand.elements +
             (operand.is_repeated ? line / lines.sharing * lines.period : line * lines.cols)),
        period(operand.is_repeated ? lines.period : 0) {}

  /// Says if a vector of M begins there, M a power of two.
  template <int M>
  __device__ bool is_alike(int before) const {
    return period > 0 || elements_before_vector<M>(from) == before;
  }

  __device__ std::int64_t place_of(std::int64_t i) const {
    if (i < period) return i;
    if (period == 1) return 0;
    if (i >> 32 == 0) return static_cast<unsigned>(i) % static_cast<unsigned>(period);  // fast
    return i % period;
  }

  template <int M>
  __device__ Vector<X, M> at(std::int64_t i) const {
    if (period == 0) return load_vector<M>(from + i);
    std::int64_t place = place_of(i);
    if (place + M <= period && is_vector_aligned<M>(from + place)) {
      return load_vector<M>(from + place);
    }
    Vector<X, M> vector;
    vector.at[0] = from[place];
#pragma unroll
    for (int j = 1; j < M; ++j) {
      if (++place == period) place = 0;
      vector.at[j] = period == 1 ? vector.at[0] : from[place];
    }
    return vector;
  }

  __device__ void load(int k, std::int64_t i) {
    held[k] = std::bit_cast<WordOfVector<X, N>>(at<N>(i));
  }
  __device__ Vector<X, N> loaded(int k) const { return std::bit_cast<Vector<X, N>>(held[k]); }
};

/// Maps the vectors of a line from `head` on, of which each thread along x has up to K, and the
/// single elements before and behind them.
template <int N, int K, class Y, class F, class... X>
__device__ void map_line(const F& f, std::int64_t cols, std::int64_t head, Y* y,
                         OperandLine<X, N, K>... x) {
  const std::int64_t vectors = (cols - head) / N;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * K + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const std::int64_t i = first + std::int64_t{k} * blockDim.x;
    if (i < vectors) (x.load(k, head + i * N), ...);
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const std::int64_t i = first + std::int64_t{k} * blockDim.x;
    if (i < vectors) store_vector(y + head + i * N, mapped<Y, N>(f, widened(x.loaded(k))...));
  }
  const std::int64_t singles = cols - vectors * N;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 1
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < singles;
       i += step) {
    const std::int64_t at = i < head ? i : i + vectors * N;
    store_vector(y + at, mapped<Y, 1>(f, widened(x.template at<1>(at))...));
  }
}

/// Blocks along x share a line; blocks, and threads, along y have lines of their own.
template <class Y, class F, class... X>
__global__ void __launch_bounds__(map_threads, 4)
    map_repeated(F f, Lines lines, Y* y, Operand<X>... x) {
  constexpr int N = vector_elements<Y, X...>;
  constexpr int K = vectors_in_flight<N, X...>;
  const std::int64_t step = std::int64_t{gridDim.y} * blockDim.y;
  for (std::int64_t line = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; line < lines.count;
       line += step) {
    Y* const to = y + line * lines.cols;
    const int before = elements_before_vector<N>(to);
    const auto map = [&](const OperandLine<X, N, K>&... of) {
      const bool are_alike = (of.template is_alike<N>(before) && ...);
      const std::int64_t head = are_alike && before < lines.cols ? before : lines.cols;
      map_line<N, K>(f, lines.cols, head, to, of...);
    };
    map(OperandLine<X, N, K>(x, lines, line)...);
  }
}

template <class Y, class F, class... X>
void map(cudaStream_t stream, const Lines& lines, F f, Y* y, Operand<X>... x) {
  if (lines.count == 0 || lines.cols == 0) return;
  constexpr int N = vector_elements<Y, X...>;
  constexpr int K = vectors_in_flight<N, X...>;
  const MapGrid grid(lines.count, (lines.cols + N * K - 1) / (N * K));
  map_repeated<<<grid.blocks, grid.threads, 0, stream>>>(f, lines, y, x...);
}

struct BroadcastMapper : Mapper {
  template <class Y, class F, class... X>
  static std::unique_ptr<Kernel> kernel_of(F f, const OpInstance& op, const Binding& binding,
                                           const X*... x) {
    std::size_t input = 0;
    const auto operand = [&]<class S>(const S* elements) {
      return Operand<S>{elements, op.signature.inputs[input++].shape.size() == 2};
    };
    const std::tuple<Operand<X>...> operands{operand(x)...};
    return std::make_unique<FunctionKernel>(
        "own kernel of 16-byte words", binding,
        [=, lines = lines_of(op.signature.outputs[0].shape),
         y = static_cast<Y*>(binding.outputs[0])](cudaStream_t stream) {
          std::apply([&](const auto&... one) { map(stream, lines, f, y, one...); }, operands);
        });
  }
};

}  // namespace

std::span<const KernelRow> broadcast_kernels() { return broadcast_rows<BroadcastMapper>; }

}  // namespace assay::cuda
