#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/core/block_format.h"
#include "kernels/cuda/workspace.h"

// Scales of block-scaled operands in the order that cuBLASLt reads (NVIDIA's cuBLAS documentation,
// "1D Block Scaling Factors Layout"): tiles of 128 rows by 4 scales, the tiles of a row of tiles
// one after the other. Rows and scales beyond the operand are zeros.
namespace assay::cuda {

inline constexpr std::int64_t scale_tile_rows = 128;
inline constexpr std::int64_t scale_tile_columns = 4;

/// Bytes of the tiles of `rows` rows of `columns` scales.
constexpr std::int64_t tiled_scale_bytes(std::int64_t rows, std::int64_t columns) {
  return (rows + scale_tile_rows - 1) / scale_tile_rows * scale_tile_rows *
         ((columns + scale_tile_columns - 1) / scale_tile_columns) * scale_tile_columns;
}

/// Place in a row-major tensor of [rows][columns] scales of one that the tiles hold at `i`; -1 for
/// one beyond it. Within a tile rows r, r + 32, r + 64 and r + 96 lie beside each other.
constexpr std::int64_t row_major_scale(std::int64_t i, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t tile_bytes = scale_tile_rows * scale_tile_columns;
  const std::int64_t tiles_across = (columns + scale_tile_columns - 1) / scale_tile_columns;
  const std::int64_t tile = i / tile_bytes;
  const std::int64_t in_tile = i % tile_bytes;
  const std::int64_t row =
      tile / tiles_across * scale_tile_rows + in_tile / 4 % 4 * 32 + in_tile / 16;
  const std::int64_t column = tile % tiles_across * scale_tile_columns + in_tile % 4;
  return row < rows && column < columns ? row * columns + column : -1;
}

/// Tiles of one operand with rows of `terms` elements.
class TiledScales {
 public:
  TiledScales(const BlockFormat& format, std::int64_t rows, std::int64_t terms);

  /// Enqueues a copy of row-major scales into the tiles.
  void arrange(const void* row_major, cudaStream_t stream) const;
  /// Enqueues scales of 1.
  void set_to_one(cudaStream_t stream) const;
  const void* data() const { return tiles_.data(); }

 private:
  std::uint8_t one_;
  std::int64_t rows_, columns_;
  Workspace tiles_;
};

}  // namespace assay::cuda
