#include "kernels/cuda/exact_operands.h"

#include <thrust/execution_policy.h>
#include <thrust/tabulate.h>

#include <algorithm>

#include "kernels/core/status.h"
#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

/// Converts integers that S holds exactly.
template <class S>
__device__ S stored(std::int64_t value) {
  if constexpr (is_narrow<S>) {
    return static_cast<S>(static_cast<float>(value));
  } else {
    return static_cast<S>(value);
  }
}

struct ElementOfA {
  ExactMatmul exact;
  __device__ std::int64_t operator()(std::int64_t i) const { return exact.a_at(i); }
};
struct ElementOfB {
  ExactMatmul exact;
  __device__ std::int64_t operator()(std::int64_t i) const { return exact.b_at(i); }
};
struct ElementOfBias {
  ExactMatmul exact;
  __device__ std::int64_t operator()(std::int64_t i) const { return exact.bias(i); }
};

template <class S, class Element>
struct Stores {
  Element element;
  __device__ S operator()(std::int64_t i) const { return stored<S>(element(i)); }
};

/// Two elements of E2M1 in a byte, the first one in the low half.
template <class Element>
struct StoresPair {
  Element element;
  __device__ static unsigned code(std::int64_t value) {
    const std::int64_t magnitude = value < 0 ? -value : value;  // 0 to 4: all are E2M1
    const auto unsigned_code = static_cast<unsigned>(magnitude < 2 ? 2 * magnitude : magnitude + 2);
    return (value < 0 ? 8U : 0U) | unsigned_code;
  }
  __device__ std::uint8_t operator()(std::int64_t i) const {
    return static_cast<std::uint8_t>(code(element(2 * i)) | code(element(2 * i + 1)) << 4U);
  }
};

/// Fills n places by Thrust, whose speed does not matter here.
template <class S, class Stores>
void tabulate(const Workspace& memory, std::int64_t n, Stores stores, cudaStream_t on) {
  auto* to = static_cast<S*>(memory.data());
  thrust::tabulate(thrust::cuda::par_nosync.on(on), to, to + n, stores);
}

constexpr int block_threads = 256;

template <class S>
__global__ void count_wrong(ExactMatmul exact, const S* d, std::int64_t n, unsigned* wrong) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    const S right = stored<S>(exact.d_at(i));
    const auto* own = reinterpret_cast<const unsigned char*>(d + i);
    const auto* due = reinterpret_cast<const unsigned char*>(&right);
    bool differs = false;
    for (int byte = 0; byte < static_cast<int>(sizeof(S)); ++byte)
      differs |= own[byte] != due[byte];
    if (differs) atomicAdd(wrong, 1U);
  }
}

template <class S>
__global__ void count_numbers(const S* d, std::int64_t n, unsigned* wrong) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (static_cast<float>(d[i]) == static_cast<float>(d[i])) atomicAdd(wrong, 1U);
  }
}

unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((n + block_threads - 1) / block_threads, 1, 65536));
}

/// Calls `f` with the C++ type of the library's type name.
template <class F>
void with_type(cudaDataType_t type, const F& f) {
  switch (type) {
    case CUDA_R_64F:
      return f(std::type_identity<double>{});
    case CUDA_R_32F:
      return f(std::type_identity<float>{});
    case CUDA_R_16BF:
      return f(std::type_identity<__nv_bfloat16>{});
    case CUDA_R_16F:
      return f(std::type_identity<__half>{});
    case CUDA_R_8F_E4M3:
      return f(std::type_identity<__nv_fp8_e4m3>{});
    case CUDA_R_8I:
      return f(std::type_identity<std::int8_t>{});
    case CUDA_R_32I:
      return f(std::type_identity<std::int32_t>{});
    default:
      throw DeviceError(Failure::internal, "a product of an unknown type");
  }
}

std::size_t bytes_of(cudaDataType_t type, std::int64_t elements) {
  if (type == CUDA_R_4F_E2M1) return static_cast<std::size_t>(elements / 2);
  std::size_t bytes = 0;
  with_type(type, [&]<class S>(std::type_identity<S>) {
    bytes = static_cast<std::size_t>(elements) * sizeof(S);
  });
  return bytes;
}

template <class Element>
void fill(const Workspace& memory, cudaDataType_t type, std::int64_t n, Element element,
          cudaStream_t on) {
  if (type == CUDA_R_4F_E2M1) {
    return tabulate<std::uint8_t>(memory, n / 2, StoresPair<Element>{element}, on);
  }
  with_type(type, [&]<class S>(std::type_identity<S>) {
    tabulate<S>(memory, n, Stores<S, Element>{element}, on);
  });
}

}  // namespace

ExactOperands::ExactOperands(const MatmulPlan& plan, void* d, CudaStream& stream)
    : plan_(plan),
      exact_(plan),
      stream_(&stream),
      a_(bytes_of(plan.factors, plan.batch * plan.m * plan.k)),
      b_(bytes_of(plan.factors, plan.batch * plan.k * plan.n)),
      bias_(bytes_of(plan.result, plan.m)),
      d_(d),
      wrong_(sizeof(unsigned)) {
  const cudaStream_t on = stream_->handle();
  fill(a_, plan.factors, plan.batch * plan.m * plan.k, ElementOfA{exact_}, on);
  fill(b_, plan.factors, plan.batch * plan.k * plan.n, ElementOfB{exact_}, on);
  fill(bias_, plan.result, plan.m, ElementOfBias{exact_}, on);
  if (plan.blocks != nullptr) {
    a_scales_.emplace(*plan.blocks, plan.m, plan.k).set_to_one(on);
    b_scales_.emplace(*plan.blocks, plan.n, plan.k).set_to_one(on);
  }
  check(cudaGetLastError(), "exact data of a product");
}

Operands ExactOperands::operands() const {
  return {.a = a_.data(),
          .b = b_.data(),
          .bias = bias_.data(),
          .d = d_,
          .a_scales = a_scales_ ? a_scales_->data() : nullptr,
          .b_scales = b_scales_ ? b_scales_->data() : nullptr};
}

void ExactOperands::refill(const FillOperands& fill) const {
  const bool has_bias = (plan_.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  fill(a_.data(), b_.data(), has_bias ? bias_.data() : nullptr);
}

void ExactOperands::spoil_result() {
  // All bytes 0xff: NaN in every float type.
  check(cudaMemsetAsync(d_, 0xff, bytes_of(plan_.result, plan_.batch * plan_.m * plan_.n),
                        stream_->handle()),
        "cudaMemsetAsync");
}

bool ExactOperands::is_result_right() {
  const std::int64_t n = plan_.batch * plan_.m * plan_.n;
  return counted([&](unsigned* wrong) {
           with_type(plan_.result, [&]<class S>(std::type_identity<S>) {
             count_wrong<<<blocks_for(n), block_threads, 0, stream_->handle()>>>(
                 exact_, static_cast<const S*>(d_), n, wrong);
           });
         }) == 0;
}

ExactOperands::NanPlace ExactOperands::nan_place() const {
  if (b_scales_) {
    return {const_cast<void*>(b_scales_->data()), 1, plan_.blocks->has_e4m3_scales ? 0x7fU : 0xffU};
  }
  switch (plan_.factors) {
    case CUDA_R_64F:
      return {b_.data(), 8, 0x7ff8'0000'0000'0000};
    case CUDA_R_32F:
      return {b_.data(), 4, 0x7fc0'0000};
    case CUDA_R_16BF:
      return {b_.data(), 2, 0x7fc0};
    case CUDA_R_16F:
      return {b_.data(), 2, 0x7e00};
    case CUDA_R_8F_E4M3:
      return {b_.data(), 1, 0x7f};
    default:
      throw DeviceError(Failure::internal, "a type without NaN");
  }
}

void ExactOperands::put_nan() {
  const NanPlace at = nan_place();
  const cudaStream_t on = stream_->handle();
  check(cudaMemcpyAsync(exact_element_.data(), at.memory, at.bytes, cudaMemcpyDeviceToHost, on),
        "cudaMemcpyAsync");
  stream_->synchronize();
  check(cudaMemcpyAsync(at.memory, &at.nan, at.bytes, cudaMemcpyHostToDevice, on),
        "cudaMemcpyAsync");
  stream_->synchronize();  // the NaN is a local variable
}

void ExactOperands::take_nan_back() {
  const NanPlace at = nan_place();
  check(cudaMemcpyAsync(at.memory, exact_element_.data(), at.bytes, cudaMemcpyHostToDevice,
                        stream_->handle()),
        "cudaMemcpyAsync");
}

bool ExactOperands::is_first_column_nan() {
  return counted([&](unsigned* wrong) {
           with_type(plan_.result, [&]<class S>(std::type_identity<S>) {
             count_numbers<<<blocks_for(plan_.m), block_threads, 0, stream_->handle()>>>(
                 static_cast<const S*>(d_), plan_.m, wrong);
           });
         }) == 0;
}

/// Returns what the kernel counts that `enqueue` enqueues. Waits.
unsigned ExactOperands::counted(const std::function<void(unsigned* wrong)>& enqueue) {
  const cudaStream_t on = stream_->handle();
  auto* wrong = static_cast<unsigned*>(wrong_.data());
  check(cudaMemsetAsync(wrong, 0, sizeof *wrong, on), "cudaMemsetAsync");
  enqueue(wrong);
  check(cudaGetLastError(), "comparison of a product");
  unsigned count = 0;
  check(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, on),
        "cudaMemcpyAsync");
  stream_->synchronize();
  return count;
}

}  // namespace assay::cuda
