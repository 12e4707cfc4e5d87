#include <cub/block/block_exchange.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

template <class A>
struct Plus {
  __device__ A operator()(A a, A b) const { return a + b; }
};

// Integers: CUB's scan in one pass.

/// Scans the elements as unsigned integers, whose sums wrap.
template <class T>
std::unique_ptr<Kernel> integer_scan(const Binding& binding, std::int64_t n) {
  using A = Accumulator<T>;
  const auto* x = static_cast<const A*>(binding.inputs[0]);
  auto* y = static_cast<A*>(binding.outputs[0]);
  return with_workspace(cub_version_text() + " DeviceScan", binding, n == 0,
                        [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
                          return cub::DeviceScan::InclusiveScan(memory, bytes, x, y, Plus<A>{}, n,
                                                                stream);
                        });
}

// Floats: three steps, each in a fixed order. CUB's scan joins block sums in the order in which
// blocks finish. It documents that float sums differ between launches, so no launch could be
// compared with another.

constexpr int block_threads = 256;
constexpr int thread_elements = 8;
constexpr int tile = block_threads * thread_elements;

/// Computes the sum of each tile.
template <class A, class S>
__global__ void sum_tiles(const S* x, std::int64_t n, A* sums) {
  using Reduce = cub::BlockReduce<A, block_threads>;
  __shared__ typename Reduce::TempStorage shared;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  A elements[thread_elements];
  for (int i = 0; i < thread_elements; ++i) {
    const std::int64_t at = first + std::int64_t{i} * block_threads + threadIdx.x;
    elements[i] = at < n ? static_cast<A>(widened(x[at])) : A{0};
  }
  const A sum = Reduce(shared).Sum(elements);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Replaces each sum by that of the tiles before it. Runs in one block, which loops over the tiles.
template <class A>
__global__ void scan_sums(A* sums, std::int64_t tiles) {
  using Scan = cub::BlockScan<A, block_threads>;
  __shared__ typename Scan::TempStorage shared;
  A before = 0;
  for (std::int64_t first = 0; first < tiles; first += block_threads) {
    const std::int64_t at = first + threadIdx.x;
    const A own = at < tiles ? sums[at] : A{0};
    A preceding = 0;
    A all = 0;
    Scan(shared).ExclusiveScan(own, preceding, A{0}, Plus<A>{}, all);
    if (at < tiles) sums[at] = before + preceding;
    before += all;
    __syncthreads();  // `shared` is used again
  }
}

/// Scans each tile, starting from the sum of the tiles before it.
template <class A, class S>
__global__ void scan_tiles(const S* x, S* y, std::int64_t n, const A* sums) {
  using Exchange = cub::BlockExchange<A, block_threads, thread_elements>;
  using Scan = cub::BlockScan<A, block_threads>;
  __shared__ union {
    typename Exchange::TempStorage exchange;
    typename Scan::TempStorage scan;
  } shared;
  const std::int64_t first = std::int64_t{blockIdx.x} * tile;
  const auto place = [&](int i) { return first + std::int64_t{i} * block_threads + threadIdx.x; };
  A elements[thread_elements];
  for (int i = 0; i < thread_elements; ++i) {
    elements[i] = place(i) < n ? static_cast<A>(widened(x[place(i)])) : A{0};
  }
  Exchange(shared.exchange).StripedToBlocked(elements, elements);
  __syncthreads();
  Scan(shared.scan).InclusiveSum(elements, elements);
  __syncthreads();
  Exchange(shared.exchange).BlockedToStriped(elements, elements);
  const A before = sums[blockIdx.x];
  for (int i = 0; i < thread_elements; ++i) {
    if (place(i) < n) y[place(i)] = static_cast<S>(before + elements[i]);
  }
}

template <class T>
std::unique_ptr<Kernel> float_scan(const Binding& binding, std::int64_t n) {
  using S = Stored<T>;
  using A = Computed<S>;
  const std::int64_t tiles = (n + tile - 1) / tile;
  return std::make_unique<FunctionKernel>(
      cub_version_text() + " BlockScan in three steps", binding,
      [=, x = input<T>(binding, 0), y = output<T>(binding),
       workspace = std::make_shared<Workspace>(static_cast<std::size_t>(tiles) * sizeof(A))](
          cudaStream_t stream) {
        if (n == 0) return;
        auto* sums = static_cast<A*>(workspace->data());
        const auto blocks = static_cast<unsigned>(tiles);
        sum_tiles<A><<<blocks, block_threads, 0, stream>>>(x, n, sums);
        scan_sums<<<1, block_threads, 0, stream>>>(sums, tiles);
        scan_tiles<A><<<blocks, block_threads, 0, stream>>>(x, y, n, sums);
      });
}

std::unique_ptr<Kernel> scan(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.signature.inputs[0].elements();
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      return integer_scan<T>(binding, n);
    } else {
      return float_scan<T>(binding, n);
    }
  });
}

constexpr KernelRow rows[] = {
    {"scan", scan},
};

}  // namespace

std::span<const KernelRow> scan_kernels() { return rows; }

}  // namespace assay::cuda
