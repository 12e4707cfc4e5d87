#include "kernels/cuda/radix_sort.h"

#include <cub/device/device_radix_sort.cuh>

namespace assay::cuda {

template <class W>
cudaError_t sort_pairs(void* memory, std::size_t& bytes, cub::DoubleBuffer<W>& keys,
                       cub::DoubleBuffer<std::int64_t>& values, std::int64_t n, int bits,
                       cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values, n, 0, bits, stream);
}

template <class W>
cudaError_t sort_keys(void* memory, std::size_t& bytes, cub::DoubleBuffer<W>& keys, std::int64_t n,
                      cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(memory, bytes, keys, n, 0, static_cast<int>(8 * sizeof(W)),
                                        stream);
}

#define ASSAY_INSTANTIATE_SORTS(W)                                                         \
  template cudaError_t sort_pairs(void*, std::size_t&, cub::DoubleBuffer<W>&,              \
                                  cub::DoubleBuffer<std::int64_t>&, std::int64_t, int,     \
                                  cudaStream_t);                                           \
  template cudaError_t sort_keys(void*, std::size_t&, cub::DoubleBuffer<W>&, std::int64_t, \
                                 cudaStream_t)

ASSAY_INSTANTIATE_SORTS(std::uint8_t);
ASSAY_INSTANTIATE_SORTS(std::uint16_t);
ASSAY_INSTANTIATE_SORTS(std::uint32_t);
ASSAY_INSTANTIATE_SORTS(std::uint64_t);

}  // namespace assay::cuda
