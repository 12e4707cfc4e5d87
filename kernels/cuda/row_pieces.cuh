#pragma once

#include "kernels/cuda/block_join.cuh"
#include "kernels/cuda/conversion.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/storage_types.cuh"
#include "kernels/cuda/vector.cuh"

// Rows of tensors in the registers of teams: some lanes of a warp for a short row, a block for a
// long one.
namespace assay::cuda {

inline constexpr int row_threads = 256;
/// Blocks on a multiprocessor, as a thread needs less than 64 or 80 registers. Their loads of a row
/// are 64 and 96 KiB.
template <class S>
inline constexpr int row_blocks = sizeof(S) == 2 ? 4 : 3;

/// Threads of the one block that a multiprocessor has for a long row.
template <class S>
inline constexpr int long_row_threads = sizeof(S) == 2 ? 1024 : 768;

/// Elements in 32 registers of a thread.
template <class S>
inline constexpr int held_elements = 128 / static_cast<int>(sizeof(Computed<S>));
template <class S>
inline constexpr int held_vectors = held_elements<S> / vector_elements<S>;

/// Rows of `cols` elements, `step` apart.
struct RowTensor {
  explicit RowTensor(const TensorSpec& spec)
      : rows(spec.shape[0]),
        cols(spec.shape[1]),
        step(spec.is_dense() ? spec.shape[1] : spec.row_stride()) {}
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t step;
};

/// Elements of a thread, of which those outside the row have no bit.
template <class S>
struct Held {
  Computed<S> value[held_elements<S>];
  unsigned inside;
};

/// Part of a row, or of any array, of which each thread of a team holds N vectors. Places are
/// counted from a 16-byte boundary of the row at or before the piece.
template <class S, int N = held_vectors<S>>
struct Piece {
  static constexpr int width = vector_elements<S>;

  /// Piece of the row at `column`, which is zero or a multiple of its `capacity`.
  __device__ Piece(const S* row, std::int64_t cols, std::int64_t column, int capacity, int team,
                   int rank)
      : team(team), rank(rank) {
    const int before = elements_behind_vector(row);
    first_column = column - before;
    low = column == 0 ? before : 0;
    high = static_cast<int>(std::min<std::int64_t>(cols - first_column, capacity));
  }

  /// Number of elements from the last vector that begins at or before `at`.
  __host__ __device__ static int elements_behind_vector(const S* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) / sizeof(S) % width);
  }

  __device__ int offset(int k) const { return (rank + k * team) * width; }
  __device__ bool is_whole(int offset) const { return offset >= low && offset + width <= high; }
  __device__ bool has(int offset) const { return offset >= low && offset < high; }

  /// Says if vector k of an array is loaded or stored by one instruction.
  __device__ bool is_vector(const S* array, int k) const {
    return is_whole(offset(k)) && is_vector_aligned<width>(array + first_column);
  }

  /// Vector k of an array of which this is a piece, element by element; those outside are filled.
  __device__ Vector<S, width> gather(const S* array, int k, S fill) const {
    const int at = offset(k);
    Vector<S, width> vector;
#pragma unroll
    for (int j = 0; j < width; ++j)
      vector.at[j] = has(at + j) ? array[first_column + at + j] : fill;
    return vector;
  }

  __device__ Vector<S, width> load(const S* array, int k) const {
    return is_vector(array, k) ? load_vector<width>(array + first_column + offset(k))
                               : gather(array, k, S{});
  }

  /// Stores whole vectors before others: compilers would split the stores of a branch that has
  /// both.
  __device__ void store(S* array, const uint4 (&words)[N]) const {
    bool has_others = false;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (is_vector(array, k)) {
        store_vector(array + first_column + offset(k), std::bit_cast<Vector<S, width>>(words[k]));
      } else {
        has_others = true;
      }
    }
    if (!has_others) return;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (is_vector(array, k)) continue;
      const auto vector = std::bit_cast<Vector<S, width>>(words[k]);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        if (has(offset(k) + j)) array[first_column + offset(k) + j] = vector.at[j];
      }
    }
  }

  /// Loads the thread's vectors; elements outside are filled. Issues the loads of whole vectors
  /// before it waits for one. Words, as compilers keep narrow elements in a register each.
  __device__ void load(const S* array, S fill, uint4 (&words)[N]) const {
    bool has_others = false;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (is_vector(array, k)) {
        words[k] = *reinterpret_cast<const uint4*>(array + first_column + offset(k));
      } else {
        words[k] = uint4{};
        has_others = true;
      }
    }
    if (!has_others) return;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (!is_vector(array, k)) words[k] = std::bit_cast<uint4>(gather(array, k, fill));
    }
  }

  __device__ Held<S> hold(const S* row, Computed<S> fill) const {
    uint4 words[N];
    load(row, static_cast<S>(fill), words);
    Held<S> held{.inside = 0};
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const auto vector = std::bit_cast<Vector<S, width>>(words[k]);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        held.value[k * width + j] = widened(vector.at[j]);
        if (is_whole(offset(k)) || has(offset(k) + j)) held.inside |= 1U << (k * width + j);
      }
    }
    return held;
  }

  int team;
  int rank;
  int low;
  int high;
  std::int64_t first_column;
};

/// Threads that share a row: 1 to 32 lanes, or a whole block.
struct Team {
  int threads;

  /// Joins `own` of all threads of the team, and returns the result to all of them.
  template <class C, class Join>
  __device__ C all(C own, Join join, C nothing) const {
    return threads <= warp_threads ? join_lanes(own, join, threads)
                                   : join_block(own, join, nothing);
  }
};

}  // namespace assay::cuda
