#pragma once

#include <algorithm>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <type_traits>

#include "kernels/core/element_functions.h"
#include "kernels/cuda/storage_types.cuh"

// Elementwise ops: y[i] = f(x[i], ...) for contiguous tensors, or rows with gaps.
namespace assay::cuda {

/// Applies F to widened arguments and rounds to Y.
template <class Y, class F>
struct Elementwise {
  F f;
  template <class... X>
  __device__ Y operator()(X... x) const {
    return static_cast<Y>(f(widened(x)...));
  }
};

/// Maps rows that lie `step` apart, for which libraries have no transform.
template <class Y, class F, class... X>
__global__ void map_apart(Elementwise<Y, F> f, std::int64_t n, std::int64_t cols, std::int64_t step,
                          Y* y, const X*... x) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    const std::int64_t at = i / cols * step + i % cols;
    y[at] = f(x[at]...);
  }
}

/// Describes the kernel that map_rows enqueues for this output.
inline std::string map_text(const OpInstance& op) {
  return op.signature.outputs[0].has_gaps() ? "own kernel over rows"
                                            : cub_version_text() + " DeviceTransform";
}

/// Enqueues f over the elements of the op's output.
template <class Y, class F, class... X>
void map_rows(cudaStream_t stream, const TensorSpec& spec, F f, Y* y, const X*... x) {
  const std::int64_t n = spec.elements();
  if (n == 0) return;
  const Elementwise<Y, F> element{f};
  if (!spec.has_gaps()) {
    // The other form sets its tile size by the first call, for all later calls of the process.
    check(cub::DeviceTransform::TransformStableArgumentAddresses(
              ::cuda::std::tuple<const X*...>(x...), y, n, element, stream),
          "cub::DeviceTransform");
    return;
  }
  constexpr int block = 256;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((n + block - 1) / block, 65536));
  map_apart<<<blocks, block, 0, stream>>>(element, n, spec.row_elements(), spec.row_stride, y,
                                          x...);
}

/// Makes elementwise kernels: see Mapped in kernels/device/element_rows.h.
struct Mapper {
  template <class T>
  using Stored = cuda::Stored<T>;

  template <class T>
  static const Stored<T>* input(const Binding& binding, std::size_t i) {
    return cuda::input<T>(binding, i);
  }

  template <class Y, class F, class... X>
  static std::unique_ptr<Kernel> kernel_of(F f, const OpInstance& op, const Binding& binding,
                                           const X*... x) {
    return std::make_unique<FunctionKernel>(
        map_text(op), binding,
        [=, spec = op.signature.outputs[0], y = static_cast<Y*>(binding.outputs[0])](
            cudaStream_t s) { map_rows(s, spec, f, y, x...); });
  }
};

}  // namespace assay::cuda
