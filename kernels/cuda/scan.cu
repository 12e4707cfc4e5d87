#include "kernels/cuda/device.h"
#include "kernels/cuda/row_pieces.cuh"

// Running sums in one pass over the data, in an order that does not depend on which block is first.
//
// A tile needs the sum of all tiles before it. Tiles are the leaves of a tree in which a node has
// 32 children. Each tile publishes its own sum; the last tile of a node publishes the node's. The
// sum before a tile is that of the children before it, at each level: it waits for sums of tiles
// alone, and never for that of a tile's predecessors (as decoupled look-back does, whose result
// depends on what is there when it looks).
namespace assay::cuda {
namespace {

constexpr int scan_threads = 256;
constexpr int scan_warps = scan_threads / warp_threads;
/// Vectors of a thread. Sums of 64 bits need more registers, and so do conversions of 16 bits.
template <class S>
constexpr int scan_vectors = sizeof(S) == 4 ? 8 : 4;
/// Blocks on a multiprocessor, as a thread needs less than 80 or 64 registers: 96 or 64 KiB of
/// loads.
template <class S>
constexpr int scan_blocks = sizeof(S) == 4 ? 3 : 4;
template <class S>
constexpr int tile_elements = scan_threads* scan_vectors<S>* vector_elements<S>;

constexpr unsigned children = warp_threads;
/// Enough for 2^25 tiles.
constexpr int levels = 5;

/// Sum of a node. Each 32 bits of it lie beside the number of the launch, in one access: a reader
/// needs no fence to see if they are there.
template <class A>
struct Published {
  static constexpr int words = sizeof(A) / 4;
  using Parts = std::array<unsigned, words>;
  unsigned long long word[words];

  __device__ void write(A sum, unsigned launch) volatile {
    const auto parts = std::bit_cast<Parts>(sum);
    for (int i = 0; i < words; ++i) word[i] = std::uint64_t{launch} << 32 | parts[i];
  }

  /// Returns true if the sum of this launch is there.
  __device__ bool read(A& sum, unsigned launch) const volatile {
    Parts parts;
    bool is_there = true;
    for (int i = 0; i < words; ++i) {
      const unsigned long long found = word[i];
      is_there &= static_cast<unsigned>(found >> 32) == launch;
      parts[i] = static_cast<unsigned>(found);
    }
    sum = std::bit_cast<A>(parts);
    return is_there;
  }
};

/// Counter of tiles, of all launches, and the nodes of the tree, level by level. All is zero before
/// the first launch. The number of a launch follows from the counter, so nothing is reset: a memset
/// before each launch would cost as much as a small scan.
template <class A>
struct Tree {
  unsigned long long* counter;
  Published<A>* nodes;
  unsigned tiles;

  static unsigned nodes_of(unsigned below) { return (below + children - 1) / children; }
  static std::size_t bytes(unsigned tiles) {
    std::size_t nodes = tiles;
    for (int level = 1; level < levels; ++level) nodes += tiles = nodes_of(tiles);
    return vector_bytes + nodes * sizeof(Published<A>);
  }

  /// Calls f(level, first node of the level, number of the tile's node among them).
  template <class F>
  __device__ void for_levels(unsigned tile, const F& f) const {
    unsigned first = 0;
    unsigned count = tiles;
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      f(level, first, tile);
      first += count;
      count = (count + children - 1) / children;
      tile /= children;
    }
  }

  /// Node of the same parent, for each lane.
  __device__ const volatile Published<A>& sibling(unsigned first, unsigned number) const {
    return nodes[first + number / children * children + threadIdx.x];
  }

  /// Publishes the sum of a tile and returns that of the tiles before it. One whole warp calls it.
  __device__ A sum_before(unsigned tile, A sum, unsigned launch) const {
    const unsigned lane = threadIdx.x;
    if (lane == 0) nodes[tile].write(sum, launch);
    A before[levels];
    unsigned missing = 0;
    // Asks for all levels at once.
    for_levels(tile, [&](int level, unsigned first, unsigned number) {
      before[level] = 0;
      if (lane < number % children && !sibling(first, number).read(before[level], launch))
        missing |= 1U << level;
    });
    A prefix = 0;
    bool ends_node = true;
    for_levels(tile, [&](int level, unsigned first, unsigned number) {
      if (level > 0 && ends_node && lane == 0) nodes[first + number].write(sum, launch);
      if ((missing >> level & 1) != 0) {
        while (!sibling(first, number).read(before[level], launch)) continue;
      }
      const A siblings = join_lanes(before[level], Plus{});
      prefix = siblings + prefix;
      sum = siblings + sum;
      ends_node = ends_node && number % children == children - 1;
    });
    return prefix;
  }
};

/// Sum of `own` of the lanes before, and the total of the warp.
template <class A>
__device__ A sum_of_lanes_before(A own, A& total) {
  const unsigned lane = threadIdx.x % warp_threads;
  A sum = own;
  for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
    const A other =
        shuffled(sum, [=](unsigned word) { return __shfl_up_sync(whole_warp, word, distance); });
    if (lane >= distance) sum = other + sum;
  }
  const auto from = [&](unsigned source) {
    return shuffled(sum, [=](unsigned word) { return __shfl_sync(whole_warp, word, source); });
  };
  total = from(warp_threads - 1);
  const A before = from((lane - 1) % warp_threads);
  return lane == 0 ? A{0} : before;
}

/// Returns the sum of the warp's elements, and in `before` the sums of those before each vector.
template <class A, class S, int vectors>
__device__ A sum_of_warp(const uint4 (&words)[vectors], A (&before)[vectors]) {
  constexpr int width = vector_elements<S>;
  A of_warp = 0;
#pragma unroll
  for (int k = 0; k < vectors; ++k) {
    const auto vector = std::bit_cast<Vector<S, width>>(words[k]);
    A sum = 0;
#pragma unroll
    for (int j = 0; j < width; ++j) sum += static_cast<A>(widened(vector.at[j]));
    A total;
    before[k] = of_warp + sum_of_lanes_before(sum, total);
    of_warp += total;
  }
  return of_warp;
}

/// Replaces the elements by their running sums, which begin with `before_warp` and `before`.
template <class A, class S, int vectors>
__device__ void sum_up(uint4 (&words)[vectors], const A (&before)[vectors], A before_warp) {
  constexpr int width = vector_elements<S>;
#pragma unroll
  for (int k = 0; k < vectors; ++k) {
    const auto vector = std::bit_cast<Vector<S, width>>(words[k]);
    Vector<A, width> sums;
    A sum = before_warp + before[k];
#pragma unroll
    for (int j = 0; j < width; ++j) {
      sum += static_cast<A>(widened(vector.at[j]));
      sums.at[j] = sum;
    }
    words[k] = std::bit_cast<uint4>(stored<S>(sums));
  }
}

template <class A, class S>
__global__ void __launch_bounds__(scan_threads, scan_blocks<S>)
    scan_tiles(const S* x, S* y, std::int64_t n, Tree<A> tree) {
  constexpr int vectors = scan_vectors<S>;
  __shared__ unsigned tile;
  __shared__ unsigned launch;
  __shared__ A of_warps[scan_warps];
  __shared__ A before_tile;
  // Takes tiles in the order in which blocks start: those before it have started too.
  if (threadIdx.x == 0) {
    const unsigned long long number = atomicAdd(tree.counter, 1ULL);
    tile = static_cast<unsigned>(number % tree.tiles);
    launch = static_cast<unsigned>(number / tree.tiles) + 1;
  }
  __syncthreads();

  const unsigned lane = threadIdx.x % warp_threads;
  const unsigned warp = threadIdx.x / warp_threads;
  const Piece<S, vectors> piece(x, n, std::int64_t{tile} * tile_elements<S>, tile_elements<S>,
                                warp_threads,
                                static_cast<int>(warp * warp_threads * vectors + lane));
  uint4 words[vectors];
  piece.load(x, static_cast<S>(0.0F), words);

  A before[vectors];
  const A of_warp = sum_of_warp<A, S>(words, before);
  if (lane == 0) of_warps[warp] = of_warp;
  __syncthreads();
  A before_warp = 0;
  A of_tile = 0;
#pragma unroll
  for (unsigned other = 0; other < scan_warps; ++other) {
    if (other == warp) before_warp = of_tile;
    of_tile += of_warps[other];
  }
  if (warp == 0) {
    const A sum = tree.sum_before(tile, of_tile, launch);
    if (lane == 0) before_tile = sum;
  }
  __syncthreads();
  before_warp += before_tile;

  sum_up<A, S>(words, before, before_warp);
  piece.store(y, words);
}

/// Sums of rows, tile after tile, a row for each block at a time.
template <class A, class S>
__global__ void __launch_bounds__(scan_threads, scan_blocks<S>)
    scan_rows(const S* x, S* y, std::int64_t rows, std::int64_t n) {
  constexpr int vectors = scan_vectors<S>;
  __shared__ A of_warps[scan_warps];
  const unsigned lane = threadIdx.x % warp_threads;
  const unsigned warp = threadIdx.x / warp_threads;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const S* const from = x + row * n;
    S* const to = y + row * n;
    const std::int64_t positions = n + Piece<S>::elements_behind_vector(from);
    A before_tile = 0;
    for (std::int64_t first = 0; first < positions; first += tile_elements<S>) {
      const Piece<S, vectors> piece(from, n, first, tile_elements<S>, warp_threads,
                                    static_cast<int>(warp * warp_threads * vectors + lane));
      uint4 words[vectors];
      piece.load(from, static_cast<S>(0.0F), words);
      A before[vectors];
      const A of_warp = sum_of_warp<A, S>(words, before);
      if (lane == 0) of_warps[warp] = of_warp;
      __syncthreads();
      A before_warp = before_tile;
      for (unsigned other = 0; other < scan_warps; ++other) {
        if (other < warp) before_warp += of_warps[other];
        before_tile += of_warps[other];
      }
      __syncthreads();
      sum_up<A, S>(words, before, before_warp);
      piece.store(to, words);
    }
  }
}

/// Lines side by side, or so short that a thread takes one alone: `parts` parts of each, which
/// begin with the sums of those before them.
struct Columns {
  std::int64_t outer;
  std::int64_t n;
  std::int64_t inner;
  std::int64_t parts;

  __host__ __device__ std::int64_t tasks() const { return outer * parts * inner; }
  unsigned blocks() const {
    return static_cast<unsigned>((tasks() + scan_threads - 1) / scan_threads);
  }
};

/// Calls f(first element of the line, first place of the part, end, index of its sum).
template <class F>
__device__ void for_part(const Columns& columns, const F& f) {
  const std::int64_t task = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (task >= columns.tasks()) return;
  const std::int64_t column = task % columns.inner;
  const std::int64_t part = task / columns.inner % columns.parts;
  const std::int64_t outer = task / columns.inner / columns.parts;
  f(outer * columns.n * columns.inner + column, columns.n * part / columns.parts,
    columns.n * (part + 1) / columns.parts, task);
}

template <class A, class S>
__global__ void __launch_bounds__(scan_threads) sum_parts(Columns columns, const S* x, A* sums) {
  for_part(columns,
           [&](std::int64_t line, std::int64_t place, std::int64_t end, std::int64_t task) {
             A sum = 0;
             for (; place < end; ++place)
               sum += static_cast<A>(widened(x[line + place * columns.inner]));
             sums[task] = sum;
           });
}

/// Replaces the sum of each part by that of the parts before it: a thread a line.
template <class A>
__global__ void __launch_bounds__(scan_threads) sum_before_parts(Columns columns, A* sums) {
  const std::int64_t line = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (line >= columns.outer * columns.inner) return;
  A* const own = sums + line / columns.inner * columns.parts * columns.inner + line % columns.inner;
  A sum = 0;
  for (std::int64_t part = 0; part < columns.parts; ++part) {
    const A of_part = own[part * columns.inner];
    own[part * columns.inner] = sum;
    sum += of_part;
  }
}

/// `before`: the sums before the parts; null if each line is one.
template <class A, class S>
__global__ void __launch_bounds__(scan_threads)
    scan_parts(Columns columns, const S* x, S* y, const A* before) {
  for_part(columns,
           [&](std::int64_t line, std::int64_t place, std::int64_t end, std::int64_t task) {
             A sum = before == nullptr ? A{0} : before[task];
             for (; place < end; ++place) {
               const std::int64_t at = line + place * columns.inner;
               sum += static_cast<A>(widened(x[at]));
               y[at] = static_cast<S>(sum);
             }
           });
}

/// As many parts as fill a GPU with threads.
Columns columns_of(const TensorSpec& x, int multiprocessors) {
  constexpr std::int64_t least_places = 32;
  Columns columns{x.shape[0], x.shape[1], x.shape[2], 1};
  const std::int64_t wanted =
      std::int64_t{2048} * multiprocessors / std::max<std::int64_t>(1, columns.tasks());
  columns.parts =
      std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, columns.n / least_places));
  return columns;
}

template <class T>
std::unique_ptr<Kernel> scan_of_columns(const OpInstance& op, const Binding& binding) {
  using A = Accumulator<Stored<T>>;
  const Columns columns = columns_of(op.signature.inputs[0], multiprocessors(binding));
  const auto sums = std::make_shared<Workspace>(
      columns.parts > 1 ? static_cast<std::size_t>(columns.tasks()) * sizeof(A) : 1);
  return std::make_unique<FunctionKernel>(
      "own kernel, a thread a part of a line", binding,
      [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
        if (columns.n == 0) return;
        if (columns.parts == 1) {
          scan_parts<A><<<columns.blocks(), scan_threads, 0, stream>>>(
              columns, x, y, static_cast<const A*>(nullptr));
          return;
        }
        auto* of_parts = static_cast<A*>(sums->data());
        const Columns lines{columns.outer, columns.n, columns.inner, 1};
        sum_parts<<<columns.blocks(), scan_threads, 0, stream>>>(columns, x, of_parts);
        sum_before_parts<<<lines.blocks(), scan_threads, 0, stream>>>(columns, of_parts);
        scan_parts<A><<<columns.blocks(), scan_threads, 0, stream>>>(
            columns, x, y, static_cast<const A*>(of_parts));
      });
}

template <class T>
std::unique_ptr<Kernel> scan_of_rows(const OpInstance& op, const Binding& binding) {
  const TensorSpec& spec = op.signature.inputs[0];
  const std::int64_t rows = spec.shape[0];
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(rows, std::int64_t{16} * multiprocessors(binding)));
  return std::make_unique<FunctionKernel>(
      "own kernel, a block a row", binding,
      [=, n = spec.shape[1], x = input<T>(binding, 0),
       y = output<T>(binding)](cudaStream_t stream) {
        if (n == 0) return;
        scan_rows<Accumulator<Stored<T>>><<<blocks, scan_threads, 0, stream>>>(x, y, rows, n);
      });
}

/// Rows that are no shorter than a warp.
std::unique_ptr<Kernel> scan_along(const OpInstance& op, const Binding& binding) {
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    const Shape& shape = op.signature.inputs[0].shape;
    return shape[2] == 1 && shape[1] >= warp_threads ? scan_of_rows<T>(op, binding)
                                                     : scan_of_columns<T>(op, binding);
  });
}

std::unique_ptr<Kernel> scan(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.signature.inputs[0].elements();
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    using S = Stored<T>;
    using A = Accumulator<S>;
    const std::int64_t positions = n + Piece<S>::elements_behind_vector(input<T>(binding, 0));
    const auto tiles = static_cast<unsigned>((positions + tile_elements<S> - 1) / tile_elements<S>);
    const auto workspace = std::make_shared<Workspace>(Tree<A>::bytes(tiles));
    workspace->clear(workspace->bytes());
    return std::make_unique<FunctionKernel>(
        "sums of tiles in a tree", binding,
        [=, x = input<T>(binding, 0), y = output<T>(binding)](cudaStream_t stream) {
          if (n == 0) return;
          auto* memory = static_cast<std::byte*>(workspace->data());
          const Tree<A> tree{reinterpret_cast<unsigned long long*>(memory),
                             reinterpret_cast<Published<A>*>(memory + vector_bytes), tiles};
          scan_tiles<A><<<tiles, scan_threads, 0, stream>>>(x, y, n, tree);
        });
  });
}

constexpr KernelRow rows[] = {
    {"scan", scan},
    {"scan_axis", scan_along},
};

}  // namespace

std::span<const KernelRow> scan_kernels() { return rows; }

}  // namespace assay::cuda
