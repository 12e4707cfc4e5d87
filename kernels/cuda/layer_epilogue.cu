#include "kernels/cuda/layer_epilogue.h"

#include <algorithm>

#include "kernels/core/status.h"
#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/conversion.cuh"
#include "kernels/cuda/vector.cuh"

namespace assay::cuda {
namespace {

constexpr int threads = 256;
constexpr int rows_per_thread = 4;  // in flight together

/// Each thread has a vector of columns, whose bias it reads once, in some of the rows.
template <int N, class Act, class C, class S>
__global__ void __launch_bounds__(threads)
    finish(Act act, const C* sums, const S* bias, S* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (col >= cols) return;
  Vector<C, N> added{};
  if (bias != nullptr) added = widened(load_vector<N>(bias + col));
  const int stride = static_cast<int>(blockDim.y);
  const std::int64_t tile = stride * rows_per_thread;
  for (std::int64_t first = blockIdx.y * tile; first < rows; first += gridDim.y * tile) {
    const auto count = static_cast<int>(std::min(rows - first, tile));
    const std::int64_t at = first * cols + col;
    Vector<C, N> held[rows_per_thread];
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int row = static_cast<int>(threadIdx.y) + k * stride;
      if (row < count) held[k] = load_vector<N>(sums + at + row * cols);
    }
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int row = static_cast<int>(threadIdx.y) + k * stride;
      if (row >= count) break;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const C sum = held[k].at[i];
        // An absent bias is not added: it would turn -0 into 0.
        held[k].at[i] = act(bias == nullptr ? sum : sum + added.at[i]);
      }
      store_vector(y + at + row * cols, stored<S>(held[k]));
    }
  }
}

/// Enqueues `finish` over columns that are a multiple of N.
template <int N, class Act, class C, class S>
void finish_vectors(Act act, const C* sums, const S* bias, S* y, std::int64_t rows,
                    std::int64_t cols, cudaStream_t stream) {
  const std::int64_t vectors = cols / N;
  int across = 1;
  while (across < threads && across < vectors) across *= 2;
  const int down = threads / across;
  const std::int64_t tiles = (rows + down * rows_per_thread - 1) / (down * rows_per_thread);
  const dim3 blocks(static_cast<unsigned>((vectors + across - 1) / across),
                    static_cast<unsigned>(std::min<std::int64_t>(tiles, 65535)));
  finish<N><<<blocks, dim3(across, down), 0, stream>>>(act, sums, bias, y, rows, cols);
}

template <class S>
void finish_as(const std::string& act, const void* all_sums, const void* all_bias, void* all_y,
               std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  using C = Computed<S>;
  if (rows == 0 || cols == 0) return;
  const auto* sums = static_cast<const C*>(all_sums);
  const auto* bias = static_cast<const S*>(all_bias);
  auto* y = static_cast<S*>(all_y);
  const auto go = [&](auto function) {
    constexpr int N = vector_elements<C, S>;
    if (cols % N == 0 && is_vector_aligned<N>(sums) && is_vector_aligned<N>(bias) &&
        is_vector_aligned<N>(y)) {
      finish_vectors<N>(function, sums, bias, y, rows, cols, stream);
    } else {
      finish_vectors<1>(function, sums, bias, y, rows, cols, stream);
    }
  };
  if (act == "none") {
    go(Identity{});
  } else if (act == "relu") {
    go(Relu{});
  } else if constexpr (!std::is_integral_v<S>) {
    if (act == "gelu") {
      go(Gelu{});
    } else {
      go(GeluTanh{});
    }
  } else {
    throw DeviceError(Failure::unsupported, "integers have no " + act);
  }
}

}  // namespace

void layer_epilogue(Format format, const std::string& act, const void* sums, const void* bias,
                    void* y, std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  const auto as = [&]<class S>(std::type_identity<S>) {
    finish_as<S>(act, sums, bias, y, rows, cols, stream);
  };
  switch (result_dtype(format)) {
    case DType::f64:
      return as(std::type_identity<double>{});
    case DType::f32:
      return as(std::type_identity<float>{});
    case DType::bf16:
      return as(std::type_identity<__nv_bfloat16>{});
    case DType::f16:
      return as(std::type_identity<__half>{});
    case DType::i32:
      return as(std::type_identity<std::int32_t>{});
    default:
      throw DeviceError(Failure::unsupported, "no layers of " + std::string(name(format)));
  }
}

}  // namespace assay::cuda
