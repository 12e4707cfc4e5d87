#include "kernels/cuda/layer_epilogue.h"

#include <algorithm>

#include "kernels/core/status.h"
#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

template <class Act, class C, class S>
__global__ void finish(Act act, const C* sums, const S* bias, S* y, std::int64_t n,
                       std::int64_t cols) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    const C sum = bias == nullptr ? sums[i] : sums[i] + widened(bias[i % cols]);
    y[i] = static_cast<S>(act(sum));
  }
}

template <class S>
void finish_as(const std::string& act, const void* sums, const void* bias, void* y,
               std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  using C = Computed<S>;
  constexpr int block = 256;
  const std::int64_t n = rows * cols;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((n + block - 1) / block, 65536));
  const auto go = [&](auto function) {
    finish<<<blocks, block, 0, stream>>>(function, static_cast<const C*>(sums),
                                         static_cast<const S*>(bias), static_cast<S*>(y), n, cols);
  };
  if (act == "none") {
    go(Identity{});
  } else if (act == "relu") {
    go(Relu{});
  } else if constexpr (!std::is_integral_v<S>) {
    if (act == "gelu") {
      go(Gelu{});
    } else {
      go(GeluTanh{});
    }
  } else {
    throw DeviceError(Failure::unsupported, "integers have no " + act);
  }
}

}  // namespace

void layer_epilogue(DType dtype, const std::string& act, const void* sums, const void* bias,
                    void* y, std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  const auto as = [&]<class S>(std::type_identity<S>) {
    finish_as<S>(act, sums, bias, y, rows, cols, stream);
  };
  switch (dtype) {
    case DType::f64:
      return as(std::type_identity<double>{});
    case DType::f32:
    case DType::tf32:
      return as(std::type_identity<float>{});
    case DType::bf16:
    case DType::e4m3:
      return as(std::type_identity<__nv_bfloat16>{});
    case DType::f16:
      return as(std::type_identity<__half>{});
    case DType::i8:
      return as(std::type_identity<std::int32_t>{});
    default:
      throw DeviceError(Failure::unsupported, "no layers of " + std::string(name(dtype)));
  }
}

}  // namespace assay::cuda
