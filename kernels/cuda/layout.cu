#include <algorithm>
#include <utility>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/storage_types.cuh"
#include "kernels/cuda/vector.cuh"

// Ops that move elements without computing.
namespace assay::cuda {
namespace {

constexpr int max_blocks_down = 65535;  // along y, of any GPU

/// Side of a tile in shared memory, which makes reads and writes of rows contiguous.
constexpr int side = 32;
constexpr int rows_at_once = 8;

/// Transposes by single elements, for rows or columns that do not start at vectors.
template <class W>
__global__ void transpose_elements(const W* x, W* y, std::int64_t rows, std::int64_t cols) {
  __shared__ W shared[side][side + 1];  // one more: puts columns into different banks
  const std::int64_t c0 = std::int64_t{blockIdx.x} * side;
  for (std::int64_t r0 = std::int64_t{blockIdx.y} * side; r0 < rows;
       r0 += std::int64_t{gridDim.y} * side) {
    const int height = static_cast<int>(std::min<std::int64_t>(rows - r0, side));
    const int width = static_cast<int>(std::min<std::int64_t>(cols - c0, side));
    const int j = static_cast<int>(threadIdx.x);
    for (int i = static_cast<int>(threadIdx.y); i < height; i += rows_at_once) {
      if (j < width) shared[i][j] = x[(r0 + i) * cols + c0 + j];
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.y); i < width; i += rows_at_once) {
      if (j < height) y[(c0 + i) * rows + r0 + j] = shared[j][i];
    }
    __syncthreads();
  }
}

/// Squares of N x N elements along each side of a tile, one for each thread. Narrow elements have
/// large squares, and enough bytes in flight with fewer threads.
template <int N>
constexpr int squares = N < 8 ? 16 : 8;

/// Transposes rows and columns that are multiples of N. Each thread turns a square in registers.
/// Its N vectors go through shared memory, so that neighbours write neighbouring vectors.
template <class W>
__global__ void transpose_vectors(const W* x, W* y, std::int64_t rows, std::int64_t cols) {
  constexpr int N = vector_elements<W>;
  constexpr int T = squares<N>;
  constexpr int tile = T * N;
  // Returns the slot of vector `down` of column `col`. Shared memory serves eight threads at a
  // time, whose `down` or whose col / N are consecutive: no two of them use the same banks.
  __shared__ Vector<W, N> shared[tile][T];
  const auto slot = [](int col, int down) -> Vector<W, N>& {
    return shared[col][down ^ (col / N % 8)];
  };
  const int across = static_cast<int>(threadIdx.x);
  const int down = static_cast<int>(threadIdx.y);
  const std::int64_t c0 = std::int64_t{blockIdx.x} * tile;
  for (std::int64_t r0 = std::int64_t{blockIdx.y} * tile; r0 < rows;
       r0 += std::int64_t{gridDim.y} * tile) {
    if (r0 + down * N < rows && c0 + across * N < cols) {
      const W* from = x + (r0 + down * N) * cols + c0 + across * N;
      Vector<W, N> square[N];
#pragma unroll
      for (int i = 0; i < N; ++i) square[i] = load_vector<N>(from + i * cols);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        Vector<W, N> column;
#pragma unroll
        for (int i = 0; i < N; ++i) column.at[i] = square[i].at[j];
        store_shared_vector(slot(across * N + j, down).at, column);
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const int col = k * T + down;
      if (r0 + across * N < rows && c0 + col < cols) {
        store_vector(y + (c0 + col) * rows + r0 + across * N, load_vector<N>(slot(col, across).at));
      }
    }
    __syncthreads();
  }
}

dim3 tiles_of(std::int64_t rows, std::int64_t cols, int tile) {
  return {static_cast<unsigned>((cols + tile - 1) / tile),
          static_cast<unsigned>(std::min<std::int64_t>((rows + tile - 1) / tile, max_blocks_down))};
}

std::unique_ptr<Kernel> transpose(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class W>(std::type_identity<W>) -> std::unique_ptr<Kernel> {
    constexpr int N = vector_elements<W>;
    constexpr int T = squares<N>;
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    const W* x = input<W>(binding, 0);
    W* y = output<W>(binding);
    if (rows % N == 0 && cols % N == 0 && is_vector_aligned<N>(x) && is_vector_aligned<N>(y)) {
      return std::make_unique<FunctionKernel>(
          "tiles of 16-byte words in shared memory", binding, [=](cudaStream_t stream) {
            transpose_vectors<<<tiles_of(rows, cols, T * N), dim3(T, T), 0, stream>>>(x, y, rows,
                                                                                      cols);
          });
    }
    return std::make_unique<FunctionKernel>(
        "tiles in shared memory", binding, [=](cudaStream_t stream) {
          transpose_elements<<<tiles_of(rows, cols, side), dim3(side, rows_at_once), 0, stream>>>(
              x, y, rows, cols);
        });
  });
}

constexpr int gather_threads = 256;
constexpr int words_per_thread = 4;  // in flight together

/// Copies rows of `words` words. Threads along x share a row, whose index each reads once.
template <class Word>
__global__ void __launch_bounds__(gather_threads)
    gather_rows(const Word* x, const std::int64_t* index, Word* y, std::int64_t rows,
                std::int64_t words) {
  const int stride = static_cast<int>(blockDim.x);
  const std::int64_t tile = std::int64_t{blockIdx.x} * stride * words_per_thread;
  const auto count = static_cast<int>(
      std::min<std::int64_t>(words - tile, std::int64_t{stride} * words_per_thread));
  const std::int64_t step = std::int64_t{gridDim.y} * blockDim.y;
#pragma unroll 1  // no division for the number of rows
  for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
       row += step) {
    const Word* from = x + index[row] * words + tile;
    Word* to = y + row * words + tile;
    Word held[words_per_thread];
#pragma unroll
    for (int k = 0; k < words_per_thread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * stride;
      if (i < count) held[k] = from[i];
    }
#pragma unroll
    for (int k = 0; k < words_per_thread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * stride;
      if (i < count) to[i] = held[k];
    }
  }
}

template <class Word>
std::unique_ptr<Kernel> gather_words(const OpInstance& op, const Binding& binding) {
  const auto row_bytes =
      op.params.integer("cols") * static_cast<std::int64_t>(size_bytes(op.dtype()));
  const std::int64_t words = row_bytes / static_cast<std::int64_t>(sizeof(Word));
  const std::int64_t rows = op.params.integer("count");
  int across = 8;
  while (across < gather_threads && across * words_per_thread < words) across *= 2;
  const int down = gather_threads / across;
  const std::int64_t tile = std::int64_t{across} * words_per_thread;
  const dim3 blocks(
      static_cast<unsigned>((words + tile - 1) / tile),
      static_cast<unsigned>(std::min<std::int64_t>((rows + down - 1) / down, max_blocks_down)));
  const auto* x = static_cast<const Word*>(binding.inputs[0]);
  const auto* index = input<std::int64_t>(binding, 1);
  auto* y = static_cast<Word*>(binding.outputs[0]);
  return std::make_unique<FunctionKernel>(
      "rows in words of " + std::to_string(sizeof(Word)) + " bytes", binding,
      [=](cudaStream_t stream) {
        if (rows == 0) return;
        gather_rows<<<blocks, dim3(across, down), 0, stream>>>(x, index, y, rows, words);
      });
}

/// Moves rows in the widest words of which they, and their addresses, are multiples.
std::unique_ptr<Kernel> gather(const OpInstance& op, const Binding& binding) {
  const auto row_bytes =
      static_cast<std::uintptr_t>(op.params.integer("cols")) * size_bytes(op.dtype());
  const auto multiple = row_bytes | reinterpret_cast<std::uintptr_t>(binding.inputs[0]) |
                        reinterpret_cast<std::uintptr_t>(binding.outputs[0]);
  if (multiple % 16 == 0) return gather_words<uint4>(op, binding);
  if (multiple % 8 == 0) return gather_words<std::uint64_t>(op, binding);
  if (multiple % 4 == 0) return gather_words<std::uint32_t>(op, binding);
  if (multiple % 2 == 0) return gather_words<std::uint16_t>(op, binding);
  return gather_words<std::uint8_t>(op, binding);
}

constexpr KernelRow rows[] = {
    {"transpose", transpose},
    {"gather", gather},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return rows; }

}  // namespace assay::cuda
