#include <algorithm>

#include "kernels/cuda/map.cuh"

// Streams through memory: read or write all of it once, with as little other work as possible. The
// ceilings of `assay limits` use them.
namespace assay::cuda {
namespace {

std::unique_ptr<Kernel> write(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Constant<double>{input<double>(binding, 0)}, op, binding);
}

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Identity{}, op, binding, input<double>(binding, 0));
}

/// y = a + s b with a factor that each launch reads from the device's memory.
struct Triad {
  struct By {
    double s;
    __device__ double operator()(double a, double b) const { return fma(s, b, a); }
  };
  const double* s;
  __device__ By prepared() const { return {*s}; }
};

std::unique_ptr<Kernel> triad(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Triad{input<double>(binding, 2)}, op, binding,
                                   input<double>(binding, 0), input<double>(binding, 1));
}

using Word = unsigned long long;

constexpr int threads = 256;
constexpr int pairs_per_thread = 4;  // in flight together
constexpr int tile = threads * pairs_per_thread;

/// Requires `y` to be zero before, and `x` to be aligned to 16 bytes, as tensors are.
__global__ void __launch_bounds__(threads) exclusive_or(const Word* x, std::int64_t n, Word* y) {
  const std::int64_t pairs = n / 2;
  Word all = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * tile;
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile; first < pairs; first += step) {
    const auto* from = x + 2 * first;
    const auto count = static_cast<int>(std::min<std::int64_t>(pairs - first, tile));
    Vector<Word, 2> held[pairs_per_thread] = {};
#pragma unroll
    for (int k = 0; k < pairs_per_thread; ++k) {
      const int i = k * threads + static_cast<int>(threadIdx.x);
      if (i < count) held[k] = load_vector<2>(from + 2 * i);
    }
#pragma unroll
    for (const Vector<Word, 2>& pair : held) all ^= pair.at[0] ^ pair.at[1];
  }
  if (n % 2 == 1 && blockIdx.x == 0 && threadIdx.x == 0) all ^= x[n - 1];
  for (int lane = 16; lane > 0; lane /= 2) all ^= __shfl_down_sync(~0U, all, lane);
  if (threadIdx.x % 32 == 0) atomicXor(y, all);
}

std::unique_ptr<Kernel> read(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.params.integer("n");
  const auto* x = static_cast<const Word*>(binding.inputs[0]);
  auto* y = static_cast<Word*>(binding.outputs[0]);
  constexpr std::int64_t max_blocks = 4096;  // a multiple of the blocks that any GPU runs at once
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((n / 2 + tile - 1) / tile, 1, max_blocks));
  return std::make_unique<FunctionKernel>(
      "own kernel of 16-byte words", binding, [=](cudaStream_t enqueue_on) {
        check(cudaMemsetAsync(y, 0, sizeof *y, enqueue_on), "cudaMemsetAsync");
        exclusive_or<<<blocks, threads, 0, enqueue_on>>>(x, n, y);
      });
}

constexpr KernelRow rows[] = {
    {"stream_read", read},
    {"stream_write", write},
    {"stream_copy", copy},
    {"stream_triad", triad},
};

}  // namespace

std::span<const KernelRow> memory_stream_kernels() { return rows; }

}  // namespace assay::cuda
