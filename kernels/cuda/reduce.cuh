#pragma once

#include "kernels/cuda/block_join.cuh"
#include "kernels/cuda/device.h"
#include "kernels/cuda/storage_types.cuh"
#include "kernels/cuda/vector.cuh"

// Reduction of tensors to one element by one launch, in an order that depends only on the number of
// elements, the alignment of the tensors and the number of blocks.
namespace assay::cuda {

inline constexpr int reduce_threads = 256;
/// Accesses of 16 bytes that a thread has in flight: 64 KiB for 1024 threads.
inline constexpr int thread_vectors = 4;
inline constexpr int tile_vectors = reduce_threads * thread_vectors;

template <class S>
using FullVector = Vector<S, vector_elements<S>>;

/// Part of a tile that a thread holds: words, as compilers keep narrow elements in a register each.
template <class S>
struct Share {
  uint4 words[thread_vectors];
  __device__ FullVector<S> vector(int k) const { return std::bit_cast<FullVector<S>>(words[k]); }
};

/// n elements: a head before the first 16-byte boundary, tiles of vectors, a tail.
template <class S>
struct Span {
  static constexpr int width = vector_elements<S>;
  static constexpr int tile_elements = tile_vectors * width;

  Span(const S* first, std::int64_t n) : first(first), n(n) {
    head = static_cast<int>(std::min<std::int64_t>(elements_before_vector<width>(first), n));
    vectors = (n - head) / width;
  }
  std::int64_t tiles() const { return (vectors + tile_vectors - 1) / tile_vectors; }
  __device__ unsigned edges() const { return static_cast<unsigned>(n - vectors * width); }

  const S* first;
  std::int64_t n;
  std::int64_t vectors;
  int head;
};

/// Loads the thread's share of the tile that begins at `tile`. Vectors from `count` on are filled,
/// those of an unaligned tile loaded element by element.
template <class S>
__device__ Share<S> load_share(const S* tile, int count, bool is_aligned, S fill) {
  constexpr int width = vector_elements<S>;
  Share<S> share;
  const S* from = tile + threadIdx.x * width;
  if (is_aligned && count >= tile_vectors) {
    for (int k = 0; k < thread_vectors; ++k)
      share.words[k] = *reinterpret_cast<const uint4*>(from + k * reduce_threads * width);
    return share;
  }
  FullVector<S> filled;
  for (S& element : filled.at) element = fill;
  for (int k = 0; k < thread_vectors; ++k) {
    const S* at = from + k * reduce_threads * width;
    FullVector<S> vector = filled;
    if (static_cast<int>(threadIdx.x) + k * reduce_threads >= count) {
      share.words[k] = std::bit_cast<uint4>(filled);
    } else if (is_aligned) {
      share.words[k] = *reinterpret_cast<const uint4*>(at);
    } else {
      for (int j = 0; j < width; ++j) vector.at[j] = at[j];
      share.words[k] = std::bit_cast<uint4>(vector);
    }
  }
  return share;
}

struct Sum {
  template <class S>
  using Partial = Accumulator<S>;
  template <class S>
  static __device__ Partial<S> nothing() {
    return 0;
  }
  /// Element that changes nothing.
  template <class S>
  static __device__ S fill() {
    return static_cast<S>(0.0F);
  }
  template <class P, class S>
  static __device__ P term(S x) {
    return static_cast<P>(widened(x));
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return a + b;
  }
  template <class P>
  static __device__ P last_step(P total, std::int64_t /*n*/) {
    return total;
  }
};

/// Reduction of terms: one chain for each element of a vector, joined in pairs.
template <class R>
struct Chains : R {
  template <class P, class... X>
  static __device__ P of_elements(unsigned /*tile*/, X... x) {
    return R::template term<P>(x...);
  }

  template <class P, class S, class... More>
  static __device__ P of_shares(unsigned tile, const Share<S>& x, const More&... more) {
    constexpr int width = vector_elements<S>;
    P chain[width];
    for (int j = 0; j < width; ++j) {
      chain[j] = of_elements<P>(tile, x.vector(0).at[j], more.vector(0).at[j]...);
      for (int k = 1; k < thread_vectors; ++k)
        chain[j] =
            R::join(chain[j], of_elements<P>(tile, x.vector(k).at[j], more.vector(k).at[j]...));
    }
    for (int half = width / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) chain[j] = R::join(chain[j], chain[j + half]);
    }
    return chain[0];
  }

  template <class P, class S>
  static __device__ void finish(P total, const Span<S>& x, S* y) {
    if (threadIdx.x == 0) *y = static_cast<S>(R::last_step(total, x.n));
  }
};

/// Returns true in the last block of the grid that calls it, which may then read what all threads 0
/// wrote before. The ticket counts modulo the number of blocks, so it is zero again for the next
/// launch: a memset before each launch would cost as much as a small reduction.
__device__ inline bool is_last_block(unsigned* ticket) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

/// Number of a tile in the order of elements; the head is tile 0.
inline constexpr unsigned tail_number = 0xffffffff;

/// Reduces one tensor, or terms of two tensors: `second` is the other, or absent.
template <class R, class S, class Y, class... Second>
__global__ void __launch_bounds__(reduce_threads)
    reduce_tiles(Span<S> x, typename R::template Partial<S>* partials, unsigned* ticket, Y* y,
                 const Second*... second) {
  using P = typename R::template Partial<S>;
  const auto join = [](P a, P b) { return R::join(a, b); };
  const P nothing = R::template nothing<S>();
  const S fill = R::template fill<S>();
  P total = nothing;

  unsigned number = blockIdx.x + 1;
  for (std::int64_t begin = std::int64_t{blockIdx.x} * tile_vectors; begin < x.vectors;
       begin += std::int64_t{gridDim.x} * tile_vectors, number += gridDim.x) {
    const int count =
        static_cast<int>(std::min<std::int64_t>(x.vectors - begin, std::int64_t{tile_vectors}));
    const std::int64_t at = x.head + begin * Span<S>::width;
    total =
        join(total, R::template of_shares<P>(
                        number, load_share(x.first + at, count, true, fill),
                        load_share(second + at, count,
                                   is_vector_aligned<Span<S>::width>(second + x.head), fill)...));
  }
  if (blockIdx.x == 0 && threadIdx.x < x.edges()) {
    const bool is_head = static_cast<int>(threadIdx.x) < x.head;
    const std::int64_t at = is_head ? threadIdx.x : x.n - x.edges() + threadIdx.x;
    total = join(total,
                 R::template of_elements<P>(is_head ? 0 : tail_number, x.first[at], second[at]...));
  }

  total = join_block(total, join, nothing);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) partials[blockIdx.x] = total;
    if (!is_last_block(ticket)) return;
    total = nothing;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduce_threads)
      total = join(total, partials[i]);
    total = join_block(total, join, nothing);
  }
  R::finish(total, x, y);
}

/// Makes a kernel that runs for no elements too.
template <class R, class S, class Y, class... Second>
std::unique_ptr<Kernel> reduce(const OpInstance& op, const Binding& binding, const S* first, Y* y,
                               const Second*... second) {
  using P = typename R::template Partial<S>;
  const Span<S> x(first, op.signature.inputs[0].elements());
  // More than a GPU holds at once: the faster take more of them.
  const std::int64_t max_blocks = std::int64_t{16} * multiprocessors(binding);
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(x.tiles(), 1, max_blocks));
  // The ticket, then what the blocks found.
  const auto workspace = std::make_shared<Workspace>(vector_bytes + blocks * sizeof(P));
  workspace->clear(vector_bytes);
  return std::make_unique<FunctionKernel>(
      "own kernel, the last block joins", binding, [=](cudaStream_t stream) {
        auto* memory = static_cast<std::byte*>(workspace->data());
        reduce_tiles<R, S, Y, Second...><<<blocks, reduce_threads, 0, stream>>>(
            x, reinterpret_cast<P*>(memory + vector_bytes), reinterpret_cast<unsigned*>(memory), y,
            second...);
      });
}

}  // namespace assay::cuda
