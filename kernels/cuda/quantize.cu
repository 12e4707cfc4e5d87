#include "kernels/core/quantize.h"

#include <algorithm>

#include "kernels/core/visit_block_format.h"
#include "kernels/cuda/storage_types.cuh"
#include "kernels/cuda/vector.cuh"

namespace assay::cuda {
namespace {

constexpr int threads = 256;
constexpr int held = 4;  // numbers of a thread

template <bool Aligned, class X>
__device__ Vector<X, held> load(const X* from) {
  if constexpr (Aligned) {
    return load_vector<held>(from);
  } else {
    Vector<X, held> numbers;
    for (int i = 0; i < held; ++i) numbers.at[i] = from[i];
    return numbers;
  }
}

template <bool Aligned, int N>
__device__ void store(std::uint8_t* to, const Vector<std::uint8_t, N>& bytes) {
  if constexpr (Aligned) {
    store_vector(to, bytes);
  } else {
    for (int i = 0; i < N; ++i) to[i] = bytes.at[i];
  }
}

/// Each thread has four numbers; the lanes of a block find its largest magnitude together.
template <class Format, bool Aligned, class X>
__global__ void __launch_bounds__(threads)
    quantize_blocks(const X* x, std::uint8_t* y, std::uint8_t* scales, std::int64_t quarters) {
  constexpr int lanes = Format::block / held;
  constexpr unsigned all = 0xffffffff;
  const std::int64_t step = std::int64_t{blockDim.x} * gridDim.x;
  // Whole warps take part in each round: shuffles need all lanes.
  const std::int64_t rounded = (quarters + 31) / 32 * 32;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rounded;
       i += step) {
    const bool is_there = i < quarters;
    float numbers[held] = {};
    if (is_there) {
      const Vector<X, held> own = load<Aligned>(x + i * held);
      for (int k = 0; k < held; ++k) numbers[k] = widened(own.at[k]);
    }
    float largest = 0;
    for (const float number : numbers) largest = fmaxf(largest, fabsf(number));
    for (int other = 1; other < lanes; other *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(all, largest, other));
    }
    if (!is_there) continue;
    const Format format(largest);
    if (i % lanes == 0) scales[i / lanes] = format.scale;
    if constexpr (Format::is_packed) {
      Vector<std::uint8_t, held / 2> bytes;
      for (int k = 0; k < held / 2; ++k) {
        bytes.at[k] =
            static_cast<std::uint8_t>(half_byte(format.element(numbers[2 * k])) |
                                      half_byte(format.element(numbers[2 * k + 1])) << 4U);
      }
      store<Aligned>(y + i * (held / 2), bytes);
    } else {
      Vector<std::uint8_t, held> bytes;
      for (int k = 0; k < held; ++k) bytes.at[k] = format.element(numbers[k]);
      store<Aligned>(y + i * held, bytes);
    }
  }
}

template <class Format, class X>
void enqueue(const X* x, std::int64_t n, std::uint8_t* y, cudaStream_t stream) {
  const std::int64_t quarters = n / held;
  if (quarters == 0) return;
  std::uint8_t* const scales = y + n / (Format::is_packed ? 2 : 1);
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((quarters + threads - 1) / threads, 65536));
  constexpr int stored = Format::is_packed ? held / 2 : held;
  if (is_vector_aligned<held>(x) && is_vector_aligned<stored>(y)) {
    quantize_blocks<Format, true><<<blocks, threads, 0, stream>>>(x, y, scales, quarters);
  } else {
    quantize_blocks<Format, false><<<blocks, threads, 0, stream>>>(x, y, scales, quarters);
  }
}

template <class X>
std::unique_ptr<Kernel> kernel_of(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.signature.inputs[0].elements();
  const auto* x = static_cast<const X*>(binding.inputs[0]);
  auto* y = static_cast<std::uint8_t*>(binding.outputs[0]);
  return visit_block_format(
      parse_format(op.params.word("to"))->product()->format,
      [&]<class Format>(std::type_identity<Format>) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>(
            "own kernel", binding, [=](cudaStream_t on) { enqueue<Format>(x, n, y, on); });
      });
}

std::unique_ptr<Kernel> quantize(const OpInstance& op, const Binding& binding) {
  switch (op.dtype()) {
    case DType::f32:
      return kernel_of<float>(op, binding);
    case DType::bf16:
      return kernel_of<__nv_bfloat16>(op, binding);
    default:
      return kernel_of<__half>(op, binding);
  }
}

constexpr KernelRow rows[] = {
    {"quantize", quantize},
};

}  // namespace

std::span<const KernelRow> quantize_kernels() { return rows; }

}  // namespace assay::cuda
