#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

std::unique_ptr<Kernel> sort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = input<T>(binding, 0);
    auto* y = output<T>(binding);
    const std::int64_t n = op.signature.inputs[0].elements();
    return with_workspace(cub_version_text() + " DeviceRadixSort", binding, n == 0,
                          [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
                            return cub::DeviceRadixSort::SortKeys(
                                memory, bytes, x, y, n, 0, static_cast<int>(8 * sizeof(T)), stream);
                          });
  });
}

constexpr KernelRow rows[] = {
    {"sort", sort},
};

}  // namespace

std::span<const KernelRow> sort_kernels() { return rows; }

}  // namespace assay::cuda
