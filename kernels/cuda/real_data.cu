#include "kernels/cuda/real_data.h"

#include <algorithm>

#include "kernels/core/block_format.h"
#include "kernels/core/philox.h"
#include "kernels/core/random_element.h"
#include "kernels/core/status.h"
#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

/// Numbers from random bits.
struct Drawing {
  double low, high;      // floats lie in [low, high)
  std::uint64_t mask;    // bits that integers keep
  std::uint64_t tensor;  // the stream of random bits
};

template <class S>
__device__ S drawn(std::uint64_t bits, const Drawing& drawing) {
  if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(bits & drawing.mask);
  } else if constexpr (std::is_same_v<S, Bool8>) {
    return S(bits >> 63U);
  } else {
    using C = Computed<S>;
    const auto width = static_cast<C>(drawing.high - drawing.low);
    return static_cast<S>(static_cast<C>(drawing.low) + width * random_element<C>(bits));
  }
}

template <class S>
__global__ void fill_uniform(S* to, std::int64_t n, Drawing drawing) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  const std::int64_t pairs = (n + 1) / 2;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < pairs;
       k += threads) {
    const auto pair = random_pair(1, drawing.tensor, static_cast<std::uint64_t>(k));
    to[2 * k] = drawn<S>(pair[0], drawing);
    if (2 * k + 1 < n) to[2 * k + 1] = drawn<S>(pair[1], drawing);
  }
}

/// Bits of integers that count as random. Of E4M3 the exponent's highest one does not: NaN has it.
std::uint64_t kept_bits(const OpInstance& op) {
  const BlockFormat* format = block_format(op.format);
  return format != nullptr && format->elements_per_byte == 1 ? 0xbf : ~std::uint64_t{0};
}

}  // namespace

void fill_as_timed(const OpInstance& op, std::size_t input, void* to, cudaStream_t stream) {
  const TensorSpec& spec = op.signature.inputs.at(input);
  const Data data = passes(op).back().data_of(input);
  if (data.distribution != Distribution::uniform) {
    throw DeviceError(Failure::internal, "real data of another distribution than uniform");
  }
  const Range range = spec.dtype == DType::f64 && data.range_f64 ? *data.range_f64 : data.range;
  const Drawing drawing{range.low, range.high, kept_bits(op), std::uint64_t{input}};
  const std::int64_t n = spec.elements();
  if (n == 0) return;
  constexpr int block = 256;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((n + 2 * block - 1) / (2 * block), 65536));
  visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
    fill_uniform<<<blocks, block, 0, stream>>>(static_cast<Stored<T>*>(to), n, drawing);
  });
  check(cudaGetLastError(), "real data of a product");
}

}  // namespace assay::cuda
