// How many blocks a multiprocessor holds, and which size of them fills it.
#include <algorithm>
#include <cstddef>

#include "emulator/libraries/cuda/context.h"

using namespace emulator;
using namespace emulator::driver;

namespace {

struct Best {
  int block = 0, blocks = 0;  // threads of a block, and blocks of a multiprocessor
};

/// The largest of the sizes that put the most threads on a multiprocessor.
cudaError_t find_best(CUfunction function, CUoccupancyB2DSize bytes_of, std::size_t bytes,
                      int limit, unsigned flags, Best& best) {
  cudaFuncAttributes attributes{};
  if (const cudaError_t e = cudaFuncGetAttributes(&attributes, function); e != cudaSuccess)
    return e;
  const int most =
      limit > 0 ? std::min(limit, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  constexpr int warp = 32;
  for (int block = most; block > 0; block = (block - 1) / warp * warp) {
    int blocks = 0;
    const cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, function, block, bytes_of != nullptr ? bytes_of(block) : bytes, flags);
    if (e != cudaSuccess) return e;
    if (blocks * block > best.blocks * best.block) best = {block, blocks};
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size,
                                                              std::size_t shared_bytes,
                                                              unsigned flags) {
  return in_context([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                  shared_bytes, flags);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, std::size_t shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                              shared_bytes, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize bytes_of, std::size_t bytes,
                                                   int limit, unsigned flags) {
  return in_context([&] {
    if (grid == nullptr || block == nullptr || limit < 0) return cudaErrorInvalidValue;
    Best best;
    if (const cudaError_t e = find_best(function, bytes_of, bytes, limit, flags, best);
        e != cudaSuccess)
      return e;
    int device = 0, multiprocessors = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
    if (const cudaError_t e =
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        e != cudaSuccess)
      return e;
    *block = best.block;
    *grid = best.blocks * multiprocessors;
    return cudaSuccess;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize bytes_of, std::size_t bytes,
                                          int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, bytes_of, bytes, limit,
                                                   CU_OCCUPANCY_DEFAULT);
}

}  // extern "C"
