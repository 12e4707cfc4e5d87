#include "emulator/libraries/cublas_lt/block_scales.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "emulator/libraries/faults.h"
#include "emulator/numbers/number.h"
#include "emulator/runtime/work.h"

namespace emulator::cublas_lt {
namespace {

constexpr std::int64_t tile_outer = 128;
constexpr std::int64_t tile_inner = 4;

/// UE8M0: 2^(code - 127), code 255 is NaN. UE4M3: E4M3 without its sign.
float scale_of(std::byte code, std::int32_t mode) {
  const auto bits = std::to_integer<std::uint32_t>(code);
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3) return decode(bits & 0x7f, e4m3);
  if (bits == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0F, static_cast<int>(bits) - 127);
}

std::int64_t tiles(std::int64_t extent, std::int64_t of) { return (extent + of - 1) / of; }

/// Place of the scale of block `inner` of column `outer`.
std::int64_t place(std::int64_t outer, std::int64_t inner, std::int64_t inner_tiles) {
  const std::int64_t tile = outer / tile_outer * inner_tiles + inner / tile_inner;
  const std::int64_t o = outer % tile_outer;
  return tile * tile_outer * tile_inner + o % 32 * 16 + o / 32 * 4 + inner % tile_inner;
}

}  // namespace

std::int64_t block_of(std::int32_t scale_mode) {
  switch (scale_mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3:
      return 16;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0:
      return 32;
    default:
      return 0;
  }
}

void scale_blocks(std::vector<float>& elements, const MatrixLayout& layout, std::int32_t mode,
                  const void* scales, int gpu, const std::string& what) {
  const std::int64_t block = block_of(mode);
  if (block == 0) return;
  const auto inner = static_cast<std::int64_t>(layout.rows);
  const auto outer = static_cast<std::int64_t>(layout.cols);
  const std::int64_t blocks = tiles(inner, block);
  const std::int64_t inner_tiles = tiles(blocks, tile_inner);
  const auto bytes =
      static_cast<std::size_t>(tiles(outer, tile_outer) * inner_tiles * tile_outer * tile_inner);
  const std::byte* const codes = memory().view(reinterpret_cast<std::uintptr_t>(scales), bytes,
                                               Access::read, gpu, what + ", scales");
  const bool ignores_tiles = has_fault(LibraryFault::row_major_scales);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      const std::int64_t b = i / block;
      const std::int64_t at = ignores_tiles ? o * blocks + b : place(o, b, inner_tiles);
      elements[static_cast<std::size_t>(o * inner + i)] *= scale_of(codes[at], mode);
    }
  }
}

}  // namespace emulator::cublas_lt
