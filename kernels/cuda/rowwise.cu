#include "kernels/cuda/rowwise.h"

#include <limits>

#include "kernels/cuda/device.h"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/row_pieces.cuh"

// Softmax, layernorm and RMSNorm. A row that fits into the registers of a team is read once. A
// longer one is read twice: for its statistics, and again for the results.
namespace assay::cuda {
namespace {

/// A NaN may or may not become the maximum. Either way it reaches the sum, and so every element.
struct Greater {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a > b ? a : b;
  }
};

/// Joins elements in four chains.
template <class C, int N, class Join>
__device__ C joined(const C (&value)[N], Join join) {
  C chain[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) chain[i] = value[i];
#pragma unroll
  for (int i = 4; i < N; ++i) chain[i % 4] = join(chain[i % 4], value[i]);
  return join(join(chain[0], chain[1]), join(chain[2], chain[3]));
}

/// One vector of results f(element, numbers of its column).
template <class S, class F, class... Numbers>
__device__ uint4 stored_words(const Held<S>& held, int k, F f, const Numbers&... numbers) {
  Vector<Computed<S>, Piece<S>::width> results;
#pragma unroll
  for (int j = 0; j < Piece<S>::width; ++j) {
    results.at[j] = f(held.value[k * Piece<S>::width + j], numbers.at[j]...);
  }
  return std::bit_cast<uint4>(stored<S>(results));
}

/// Stores f(element, numbers of its column) of a piece of a row.
template <class S, class F, class... Tensors>
__device__ void store_piece(const Piece<S>& piece, const Held<S>& held, S* y, F f,
                            const Tensors*... per_column) {
  uint4 words[held_vectors<S>];
#pragma unroll
  for (int k = 0; k < held_vectors<S>; ++k) {
    words[k] = stored_words<S>(held, k, f, widened(piece.load(per_column, k))...);
  }
  piece.store(y, words);
}

/// Results are scale (x - shift), or scale e^(x - shift).
template <class C>
struct Line {
  C shift;
  C scale;
};

template <class S>
struct Softmax {
  using C = Computed<S>;
  static constexpr C fill = -std::numeric_limits<C>::infinity();

  __device__ void prepare(std::int64_t /*cols*/) {}

  __device__ static void shift(Held<S>& held, C maximum) {
#pragma unroll
    for (C& value : held.value) value = exp(value - maximum);
  }

  /// Turns the elements of a row into e^(x - maximum) and returns their scale.
  __device__ C normalise(Held<S>& held, const Team& team, std::int64_t /*cols*/) const {
    shift(held, team.all(joined(held.value, Greater{}), Greater{}, fill));
    return 1 / team.all(joined(held.value, Plus{}), Plus{}, C{0});
  }

  /// Sum of e^(x - maximum) over the elements so far.
  struct Statistics {
    C maximum = fill;
    C sum = 0;

    __device__ void add(Held<S>& held) {
      const C greatest = Greater{}(joined(held.value, Greater{}), maximum);
      // While all elements are -infinity or NaN, their differences to the maximum would all be NaN.
      const C finite = greatest == fill ? 0 : greatest;
      shift(held, finite);
      sum = sum * exp(maximum - finite) + joined(held.value, Plus{});
      maximum = greatest;
    }

    __device__ Line<C> of_row(const Team& team, std::int64_t /*cols*/) const {
      const C greatest = team.all(maximum, Greater{}, fill);
      return {greatest, 1 / team.all(sum * exp(maximum - greatest), Plus{}, C{0})};
    }
  };

  __device__ void store(const Piece<S>& piece, const Held<S>& held, C scale, S* y) const {
    store_piece(piece, held, y, [=](C x) { return x * scale; });
  }
};

/// Tensors of a number for each column. A block keeps them in shared memory, so many elements apart
/// (0: they do not fit).
template <class S, int Tensors>
struct PerColumn {
  const S* of[Tensors];
  int kept;

  __device__ void prepare(std::int64_t cols) {
    if (kept == 0) return;
    extern __shared__ uint4 memory[];
    auto* shared = reinterpret_cast<S*>(memory);
    for (int from = static_cast<int>(threadIdx.x) * Piece<S>::width; from < cols;
         from += static_cast<int>(blockDim.x) * Piece<S>::width) {
      const bool is_whole = from + Piece<S>::width <= cols;
#pragma unroll
      for (int i = 0; i < Tensors; ++i) {
        S* const to = shared + i * kept;
        if (is_whole && is_vector_aligned<Piece<S>::width>(of[i])) {
          store_shared_vector(to + from, load_vector<Piece<S>::width>(of[i] + from));
        } else {
          for (int j = from; j < cols && j < from + Piece<S>::width; ++j) to[j] = of[i][j];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Tensors; ++i) of[i] = shared + i * kept;
    __syncthreads();
  }
};

/// Sum of squares.
template <class S>
__device__ Computed<S> sum_of_squares(const Held<S>& held) {
  Computed<S> chain[4] = {};
#pragma unroll
  for (int i = 0; i < held_elements<S>; ++i) chain[i % 4] += held.value[i] * held.value[i];
  return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

/// Factor of a row that divides by the root of a mean of squares.
template <class C>
__device__ C reciprocal_root(C squares, std::int64_t cols) {
  return 1 / sqrt(squares / static_cast<C>(cols) + C(1e-5));
}

/// Computes the variance from differences to the mean. The mean of squares less the square of the
/// mean cancels.
template <class S>
struct Layernorm {
  using C = Computed<S>;
  static constexpr C fill = 0;

  PerColumn<S, 2> columns;  // weight and bias

  __device__ void prepare(std::int64_t cols) { columns.prepare(cols); }

  __device__ static void shift(Held<S>& held, C mean) {
#pragma unroll
    for (int i = 0; i < held_elements<S>; ++i) {
      held.value[i] = (held.inside >> i & 1) != 0 ? held.value[i] - mean : 0;
    }
  }

  /// Turns the elements of a row into their differences to its mean and returns their scale.
  __device__ C normalise(Held<S>& held, const Team& team, std::int64_t cols) const {
    shift(held, team.all(joined(held.value, Plus{}), Plus{}, C{0}) / static_cast<C>(cols));
    return reciprocal_root(team.all(sum_of_squares(held), Plus{}, C{0}), cols);
  }

  struct Statistics {
    Moments<C> moments;

    __device__ void add(Held<S>& held) {
      const auto own = static_cast<C>(__popc(held.inside));
      if (own == 0) return;
      const C own_mean = joined(held.value, Plus{}) / own;
      shift(held, own_mean);
      moments = moments + Moments<C>{own, own_mean, sum_of_squares(held)};
    }

    __device__ Line<C> of_row(const Team& team, std::int64_t cols) const {
      const Moments<C> all = team.all(moments, Plus{}, Moments<C>{});
      return {all.mean, reciprocal_root(all.squares, cols)};
    }
  };

  __device__ void store(const Piece<S>& piece, const Held<S>& held, C scale, S* y) const {
    store_piece(
        piece, held, y, [=](C x, C weight, C bias) { return x * scale * weight + bias; },
        columns.of[0], columns.of[1]);
  }
};

template <class S>
struct Rmsnorm {
  using C = Computed<S>;
  static constexpr C fill = 0;

  PerColumn<S, 1> columns;  // weight

  __device__ void prepare(std::int64_t cols) { columns.prepare(cols); }

  __device__ static void shift(Held<S>& /*held*/, C /*mean*/) {}

  __device__ C normalise(Held<S>& held, const Team& team, std::int64_t cols) const {
    return reciprocal_root(team.all(sum_of_squares(held), Plus{}, C{0}), cols);
  }

  struct Statistics {
    C squares = 0;

    __device__ void add(Held<S>& held) { squares += sum_of_squares(held); }

    __device__ Line<C> of_row(const Team& team, std::int64_t cols) const {
      return {0, reciprocal_root(team.all(squares, Plus{}, C{0}), cols)};
    }
  };

  __device__ void store(const Piece<S>& piece, const Held<S>& held, C scale, S* y) const {
    store_piece(
        piece, held, y, [=](C x, C weight) { return x * scale * weight; }, columns.of[0]);
  }
};

/// Teams take rows in turn. `threads`: of a block at most.
template <class Op, class S, int threads>
__global__ void __launch_bounds__(threads, threads == row_threads ? row_blocks<S> : 1)
    rows_in_registers(Op op, const S* x, S* y, RowTensor r, Team team) {
  op.prepare(r.cols);
  const bool is_block = team.threads > warp_threads;
  // Teams of less than a block are powers of two: no division.
  const int shift = 31 - __clz(team.threads);
  const int rank = is_block ? threadIdx.x : threadIdx.x & (team.threads - 1);
  const int own = is_block ? 0 : threadIdx.x >> shift;
  const int teams = is_block ? 1 : blockDim.x >> shift;
#pragma unroll 1
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < r.rows;
       first += std::int64_t{gridDim.x} * teams) {
    // Teams past the end compute the last row and do not write it, so that warps stay together.
    const bool is_row = first + own < r.rows;
    const std::int64_t at = (is_row ? first + own : r.rows - 1) * r.step;
    const Piece<S> piece(x + at, r.cols, 0, std::numeric_limits<int>::max(), team.threads, rank);
    Held<S> held = piece.hold(x + at, Op::fill);
    const auto scale = op.normalise(held, team, r.cols);
    if (is_row) op.store(piece, held, scale, y + at);
  }
}

/// A block for each row.
template <class Op, class S>
__global__ void __launch_bounds__(row_threads, row_blocks<S>)
    rows_in_pieces(Op op, const S* x, S* y, RowTensor r) {
  constexpr int capacity = row_threads * held_elements<S>;
  const std::int64_t at = blockIdx.x * r.step;
  const auto piece_at = [&](std::int64_t column) {
    return Piece<S>(x + at, r.cols, column, capacity, row_threads, threadIdx.x);
  };
  const std::int64_t end = r.cols + Piece<S>::width;  // a row may begin late in its first vector
  typename Op::Statistics statistics;
  for (std::int64_t column = 0; column < end; column += capacity) {
    Held<S> held = piece_at(column).hold(x + at, Op::fill);
    statistics.add(held);
  }
  const auto line = statistics.of_row({row_threads}, r.cols);
  for (std::int64_t column = 0; column < end; column += capacity) {
    const Piece<S> piece = piece_at(column);
    Held<S> held = piece.hold(x + at, Op::fill);
    op.shift(held, line.shift);
    op.store(piece, held, line.scale, y + at);
  }
}

/// Enqueues the kernel that fits the rows. At most `max_threads` share them.
template <class Op, class S>
void launch_rows(cudaStream_t stream, Op op, const S* x, S* y, const RowTensor& r,
                 std::size_t shared, std::int64_t max_threads) {
  constexpr int width = vector_elements<S>;
  // A row that begins within a vector may need one more.
  const bool is_aligned = is_vector_aligned<width>(x) && (r.step % width == 0 || r.rows == 1);
  const std::int64_t vectors = (r.cols + (is_aligned ? 0 : width - 1) + width - 1) / width;
  const std::int64_t wanted = (vectors + held_vectors<S> - 1) / held_vectors<S>;
  if (wanted > long_row_threads<S>) {
    rows_in_pieces<Op><<<static_cast<unsigned>(r.rows), row_threads, 0, stream>>>(op, x, y, r);
    return;
  }
  Team team{1};
  while (team.threads < wanted)
    team.threads += team.threads < warp_threads ? team.threads : warp_threads;
  const int threads = team.threads > warp_threads ? team.threads : row_threads;
  const std::int64_t per_block = threads / team.threads;
  const std::int64_t blocks = std::min((r.rows + per_block - 1) / per_block,
                                       std::max<std::int64_t>(max_threads / threads, 1));
  auto* const kernel = threads > row_threads ? rows_in_registers<Op, S, long_row_threads<S>>
                                             : rows_in_registers<Op, S, row_threads>;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared, stream>>>(
      op, x, y, r, team);
}

}  // namespace

std::unique_ptr<Kernel> softmax_of_rows(const OpInstance& op, const Binding& binding) {
  const RowTensor r(op.signature.outputs[0]);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return std::make_unique<FunctionKernel>(
        "rows in registers", binding,
        [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
          launch_rows(stream, Softmax<Stored<T>>{}, x, y, r, 0,
                      std::numeric_limits<std::int64_t>::max());
        });
  });
}

namespace {

/// Bytes of shared memory that a block of every GPU can have beside those that the kernel declares.
template <class Function>
std::size_t free_shared_bytes(Function* kernel) {
  constexpr std::size_t of_block = 48 << 10;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return of_block - attributes.sharedSizeBytes;
}

/// Makes the kernel of an op with tensors of a number for each column.
template <template <class> class Op, int Tensors>
std::unique_ptr<Kernel> normalisation(const OpInstance& op, const Binding& binding) {
  const RowTensor r(op.signature.outputs[0]);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    using S = Stored<T>;
    Op<S> norm{};
    for (int i = 0; i < Tensors; ++i)
      norm.columns.of[i] = input<T>(binding, static_cast<std::size_t>(i) + 1);
    const std::int64_t kept =
        (r.cols + vector_elements<S> - 1) / vector_elements<S> * vector_elements<S>;
    std::size_t shared = Tensors * static_cast<std::size_t>(kept) * sizeof(S);
    if (shared <= free_shared_bytes(rows_in_registers<Op<S>, S, row_threads>)) {
      norm.columns.kept = static_cast<int>(kept);
    } else {
      shared = 0;
    }
    // No more blocks than the GPU holds at once: each loads these tensors.
    const std::int64_t max_threads =
        std::int64_t{multiprocessors(binding)} * row_blocks<S> * row_threads;
    return std::make_unique<FunctionKernel>(
        "rows in registers", binding,
        [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
          launch_rows(stream, norm, x, y, r, shared, max_threads);
        });
  });
}

constexpr KernelRow rows[] = {
    {"softmax", softmax_of_rows},
    {"layernorm", normalisation<Layernorm, 2>},
    {"rmsnorm", normalisation<Rmsnorm, 1>},
};

}  // namespace

std::unique_ptr<Kernel> layernorm_of_rows(const OpInstance& op, const Binding& binding) {
  return normalisation<Layernorm, 2>(op, binding);
}

std::span<const KernelRow> rowwise_kernels() { return rows; }

}  // namespace assay::cuda
