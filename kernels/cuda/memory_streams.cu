#include <algorithm>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/storage_types.cuh"

// Streams through memory: read or write all of it once, with as little other work as possible. The
// ceilings of `assay limits` use them.
namespace assay::cuda {
namespace {

constexpr int threads = 256;
constexpr int words_per_thread = 4;  // in flight together

/// Number of blocks for all n elements, `per_thread` of them for each thread.
unsigned blocks_for(std::int64_t n, int per_thread) {
  const std::int64_t tile = std::int64_t{threads} * per_thread;
  return static_cast<unsigned>(std::clamp<std::int64_t>((n + tile - 1) / tile, 1, 1 << 30));
}

/// y[i] = f(i), with the loads of one thread's elements in flight together. Works on pairs of
/// doubles: tensors are aligned to their 16 bytes. The last of an odd number is handled alone.
template <class Load, class Last>
__global__ void stream(double* y, std::int64_t n, Load load, Last last) {
  auto* pairs = reinterpret_cast<double2*>(y);
  const std::int64_t count = n / 2;
  const std::int64_t first = std::int64_t{blockIdx.x} * threads * words_per_thread + threadIdx.x;
  double2 held[words_per_thread];
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    const std::int64_t i = first + k * threads;
    if (i < count) held[k] = load(i);
  }
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    const std::int64_t i = first + k * threads;
    if (i < count) pairs[i] = held[k];
  }
  if (n % 2 == 1 && blockIdx.x == 0 && threadIdx.x == 0) y[n - 1] = last(n - 1);
}

template <class Load, class Last>
std::unique_ptr<Kernel> streaming(const OpInstance& op, const Binding& binding, Load load,
                                  Last last) {
  const std::int64_t n = op.params.integer("n");
  auto* y = output<double>(binding);
  return std::make_unique<FunctionKernel>(
      "own kernel of 16-byte words", binding, [=](cudaStream_t enqueue_on) {
        stream<<<blocks_for(n / 2, words_per_thread), threads, 0, enqueue_on>>>(y, n, load, last);
      });
}

struct Broadcast {
  const double* a;
  __device__ double2 operator()(std::int64_t) const { return {*a, *a}; }
};
struct BroadcastOne {
  const double* a;
  __device__ double operator()(std::int64_t) const { return *a; }
};

std::unique_ptr<Kernel> write(const OpInstance& op, const Binding& binding) {
  const double* a = input<double>(binding, 0);
  return streaming(op, binding, Broadcast{a}, BroadcastOne{a});
}

struct Pass {
  const double* x;
  __device__ double2 operator()(std::int64_t i) const {
    return reinterpret_cast<const double2*>(x)[i];
  }
};
struct PassOne {
  const double* x;
  __device__ double operator()(std::int64_t i) const { return x[i]; }
};

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  const double* x = input<double>(binding, 0);
  return streaming(op, binding, Pass{x}, PassOne{x});
}

struct Triad {
  const double* a;
  const double* b;
  const double* s;
  __device__ double2 operator()(std::int64_t i) const {
    const double2 left = reinterpret_cast<const double2*>(a)[i];
    const double2 right = reinterpret_cast<const double2*>(b)[i];
    return {fma(*s, right.x, left.x), fma(*s, right.y, left.y)};
  }
};
struct TriadOne {
  const double* a;
  const double* b;
  const double* s;
  __device__ double operator()(std::int64_t i) const { return fma(*s, b[i], a[i]); }
};

std::unique_ptr<Kernel> triad(const OpInstance& op, const Binding& binding) {
  const double* a = input<double>(binding, 0);
  const double* b = input<double>(binding, 1);
  const double* s = input<double>(binding, 2);
  return streaming(op, binding, Triad{a, b, s}, TriadOne{a, b, s});
}

using Word = unsigned long long;

/// Requires `y` to be zero before.
__global__ void exclusive_or(const Word* x, std::int64_t n, Word* y) {
  const auto* pairs = reinterpret_cast<const ulonglong2*>(x);
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  Word all = 0;
#pragma unroll 4
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < n / 2; i += step) {
    all ^= pairs[i].x ^ pairs[i].y;
  }
  if (n % 2 == 1 && blockIdx.x == 0 && threadIdx.x == 0) all ^= x[n - 1];
  for (int lane = 16; lane > 0; lane /= 2) all ^= __shfl_down_sync(~0U, all, lane);
  if (threadIdx.x % 32 == 0) atomicXor(y, all);
}

std::unique_ptr<Kernel> read(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.params.integer("n");
  const auto* x = static_cast<const Word*>(binding.inputs[0]);
  auto* y = static_cast<Word*>(binding.outputs[0]);
  constexpr unsigned max_blocks = 4096;  // a multiple of the blocks that any GPU runs at once
  return std::make_unique<FunctionKernel>(
      "own kernel of 16-byte words", binding, [=](cudaStream_t enqueue_on) {
        check(cudaMemsetAsync(y, 0, sizeof *y, enqueue_on), "cudaMemsetAsync");
        exclusive_or<<<std::min(blocks_for(n / 2, 4), max_blocks), threads, 0, enqueue_on>>>(x, n,
                                                                                             y);
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
