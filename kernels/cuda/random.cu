#include <cub/device/device_for.cuh>

#include "kernels/core/philox.h"
#include "kernels/core/random_element.h"
#include "kernels/cuda/kernels.h"

namespace assay::cuda {
namespace {

/// Elements 2 k and 2 k + 1 are the halves of block k.
template <class T>
struct FillPair {
  std::uint64_t seed;
  T* y;
  std::int64_t n;
  __device__ void operator()(std::int64_t k) const {
    const auto pair = random_pair(seed, 0, static_cast<std::uint64_t>(k));
    y[2 * k] = random_element<T>(pair[0]);
    if (2 * k + 1 < n) y[2 * k + 1] = random_element<T>(pair[1]);
  }
};

std::unique_ptr<Kernel> random(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const std::int64_t n = op.params.integer("n");
    const FillPair<T> fill{static_cast<std::uint64_t>(op.params.integer("seed")),
                           static_cast<T*>(binding.outputs[0]), n};
    return std::make_unique<FunctionKernel>(
        "Philox 4x32-10, " + cub_version_text() + " DeviceFor", binding, [=](cudaStream_t stream) {
          if (n > 0) check(cub::DeviceFor::Bulk((n + 1) / 2, fill, stream), "cub::DeviceFor");
        });
  });
}

constexpr KernelRow rows[] = {
    {"random", random},
};

}  // namespace

std::span<const KernelRow> random_kernels() { return rows; }

}  // namespace assay::cuda
