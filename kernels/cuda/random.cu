#include <algorithm>

#include "kernels/core/philox.h"
#include "kernels/core/random_element.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/vector.cuh"

namespace assay::cuda {
namespace {

constexpr int threads = 256;

/// Elements 2 k and 2 k + 1 are the halves of block k. Each thread makes one vector; the
/// first block also the elements after the last one.
template <class T>
__global__ void __launch_bounds__(threads) fill_random(std::uint64_t seed, T* y, std::int64_t n) {
  constexpr int N = vector_elements<T>;
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t vectors = n / N;
  if (at < vectors) {
    Vector<T, N> elements;
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const auto pair = random_pair(seed, 0, static_cast<std::uint64_t>(at * (N / 2) + i / 2));
      elements.at[i] = random_element<T>(pair[0]);
      elements.at[i + 1] = random_element<T>(pair[1]);
    }
    if (is_vector_aligned<N>(y)) {
      store_vector(y + at * N, elements);
    } else {
      for (int i = 0; i < N; ++i) y[at * N + i] = elements.at[i];
    }
  }
  const std::int64_t last = vectors * N + at;
  if (last < n && blockIdx.x == 0) {
    const auto pair = random_pair(seed, 0, static_cast<std::uint64_t>(last / 2));
    y[last] = random_element<T>(last % 2 == 0 ? pair[0] : pair[1]);
  }
}

std::unique_ptr<Kernel> random(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const std::int64_t n = op.params.integer("n");
    const auto seed = static_cast<std::uint64_t>(op.params.integer("seed"));
    auto* y = static_cast<T*>(binding.outputs[0]);
    constexpr std::int64_t tile = std::int64_t{threads} * vector_elements<T>;
    const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
    return std::make_unique<FunctionKernel>(
        "Philox 4x32-10, 16-byte stores", binding, [=](cudaStream_t stream) {
          if (n > 0) fill_random<<<blocks, threads, 0, stream>>>(seed, y, n);
        });
  });
}

constexpr KernelRow rows[] = {
    {"random", random},
};

}  // namespace

std::span<const KernelRow> random_kernels() { return rows; }

}  // namespace assay::cuda
