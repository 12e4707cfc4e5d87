#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/stored.cuh"

namespace assay::cuda {
namespace {

std::unique_ptr<Kernel> sort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = input<T>(binding, 0);
    auto* y = output<T>(binding);
    const std::int64_t n = op.signature.inputs[0].elements();
    const auto call = [=](void* workspace, std::size_t& bytes, cudaStream_t stream) {
      check(cub::DeviceRadixSort::SortKeys(workspace, bytes, x, y, n, 0,
                                           static_cast<int>(8 * sizeof(T)), stream),
            "cub::DeviceRadixSort");
    };
    std::size_t bytes = 0;
    call(nullptr, bytes, stream_of(binding).handle());
    return std::make_unique<FunctionKernel>(
        cub_version_text() + " DeviceRadixSort", binding,
        [=, workspace = std::make_shared<Workspace>(bytes)](cudaStream_t stream) {
          std::size_t given = workspace->bytes();
          if (n > 0) call(workspace->data(), given, stream);
        });
  });
}

constexpr KernelRow rows[] = {
    {"sort", sort},
};

}  // namespace

std::span<const KernelRow> sort_kernels() { return rows; }

}  // namespace assay::cuda
