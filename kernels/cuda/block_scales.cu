#include "kernels/cuda/block_scales.h"

#include <algorithm>

#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

__global__ void arrange_scales(const std::uint8_t* from, std::uint8_t* tiles, std::int64_t rows,
                               std::int64_t columns, std::int64_t bytes) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes;
       i += threads) {
    const std::int64_t at = row_major_scale(i, rows, columns);
    tiles[i] = at < 0 ? std::uint8_t{0} : from[at];
  }
}

}  // namespace

TiledScales::TiledScales(const BlockFormat& format, std::int64_t rows, std::int64_t terms)
    : one_(block_scale_code(format, 0)),
      rows_(rows),
      columns_(format.scale_bytes(terms)),
      tiles_(static_cast<std::size_t>(tiled_scale_bytes(rows_, columns_))) {}

void TiledScales::arrange(const void* row_major, cudaStream_t stream) const {
  constexpr int block = 256;
  const auto bytes = static_cast<std::int64_t>(tiles_.bytes());
  if (bytes == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((bytes + block - 1) / block, 65536));
  arrange_scales<<<blocks, block, 0, stream>>>(static_cast<const std::uint8_t*>(row_major),
                                               static_cast<std::uint8_t*>(tiles_.data()), rows_,
                                               columns_, bytes);
  check(cudaGetLastError(), "scales of a product");
}

void TiledScales::set_to_one(cudaStream_t stream) const {
  check(cudaMemsetAsync(tiles_.data(), one_, tiles_.bytes(), stream), "cudaMemsetAsync");
}

}  // namespace assay::cuda
