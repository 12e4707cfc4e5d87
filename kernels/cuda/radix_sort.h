#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cub/util_type.cuh>

// CUB's radix sorts of unsigned keys, compiled once for each width. They are stable. As of CUB,
// `bytes` is set to the memory that a sort needs if `memory` is null, and the buffers then say
// where the results are.
namespace assay::cuda {

/// Sorts by the lowest `bits` of the keys. Keys: words of 8, 16, 32 and 64 bits.
template <class W>
cudaError_t sort_pairs(void* memory, std::size_t& bytes, cub::DoubleBuffer<W>& keys,
                       cub::DoubleBuffer<std::int64_t>& values, std::int64_t n, int bits,
                       cudaStream_t stream);

template <class W>
cudaError_t sort_keys(void* memory, std::size_t& bytes, cub::DoubleBuffer<W>& keys, std::int64_t n,
                      cudaStream_t stream);

}  // namespace assay::cuda
