#include "emulator/machine/shared_matrix.h"

namespace emulator {
namespace {

/// Bits [first, first + count).
std::uint64_t field(std::uint64_t descriptor, unsigned first, unsigned count) {
  return descriptor >> first & ((std::uint64_t{1} << count) - 1);
}

/// By the swizzling mode: none, 128, 64 and 32 bytes.
constexpr unsigned chunks_of_mode[] = {1, 8, 4, 2};
constexpr std::uint64_t reserved_bits = 0x3ffull << 52 | 7ull << 46 | 3ull << 30 | 3ull << 14;
constexpr unsigned tile = 8;  // rows or columns of one

}  // namespace

SharedMatrix::SharedMatrix(std::uint64_t descriptor, unsigned element_bytes, bool is_mn_major)
    : descriptor_(descriptor),
      start_(field(descriptor, 0, 14) << 4),
      leading_(field(descriptor, 16, 14) << 4),
      stride_(field(descriptor, 32, 14) << 4),
      element_bytes_(element_bytes),
      is_mn_major_(is_mn_major),
      swizzled_chunks_(chunks_of_mode[field(descriptor, 62, 2)]),
      pattern_(field(descriptor, 49, 3) << 7) {}

std::string SharedMatrix::problem() const {
  if ((descriptor_ & reserved_bits) != 0) return "it sets bits that have no documented meaning";
  if (swizzled_chunks_ == 1 && pattern_ != 0)
    return "it has a base offset, which is documented for swizzled layouts only";
  return {};
}

std::uint64_t SharedMatrix::offset(unsigned across, unsigned along) const {
  // In units of 16 bytes the matrix has chunks along its major dimension, eight of which in the
  // other one are a tile.
  const unsigned in_chunk = chunk_bytes / element_bytes_;
  const unsigned major = is_mn_major_ ? across : along, minor = is_mn_major_ ? along : across;
  const std::uint64_t chunk = major / in_chunk, in_tile = minor % tile, which = minor / tile;
  std::uint64_t at = start_ + major % in_chunk * element_bytes_;
  if (swizzled_chunks_ == 1) {
    // The two strides change their places: "Leading Dimension Byte Offset".
    const std::uint64_t chunk_stride = is_mn_major_ ? stride_ : leading_;
    const std::uint64_t tile_stride = is_mn_major_ ? leading_ : stride_;
    return at + in_tile * chunk_bytes + which * tile_stride + chunk * chunk_stride;
  }
  const std::uint64_t row_bytes = swizzled_chunks_ * chunk_bytes;
  at += in_tile * row_bytes + which * stride_;
  // K-major matrices are 32 bytes wide, which is never more than a row.
  at += is_mn_major_ ? chunk % swizzled_chunks_ * chunk_bytes + chunk / swizzled_chunks_ * leading_
                     : chunk * chunk_bytes;
  // Swizzle<B, 4, 3>: 2^B chunks, by the bits of the address from 7 on, counted from the pattern.
  return at ^ ((at - pattern_) >> 7 & (swizzled_chunks_ - 1)) << 4;
}

}  // namespace emulator
