#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

/// Types of a tensor's elements, with the numbers of CUtensorMapDataType.
enum class TensorElement : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4_align8,
  u4_align16,
  u6_align16  // sixteen packed numbers of 4 or 6 bits
};
std::string_view name_of(TensorElement type);
/// 0 for packed numbers.
std::size_t bytes_of(TensorElement type);
bool is_float(TensorElement type);

enum class Interleave : std::uint8_t { none, slices_of_16, slices_of_32 };

/// Chunks that change places within a span of shared memory: CUtensorMapSwizzle.
enum class Swizzle : std::uint8_t {
  none,
  span_32,         // chunks of 16 bytes
  span_64,         // of 16
  span_128,        // of 16
  span_128_by_32,  // of 32
  span_128_by_32_flipped,
  span_128_by_64  // of 64
};
/// Bytes within which chunks move; 0: none do.
std::size_t span_of(Swizzle swizzle);
/// Where the byte of an unswizzled box is that would lie at `address` of shared memory. PTX ISA,
/// "Swizzling Modes": the pattern begins anew at multiples of 256, 512 and 1024 bytes.
std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address);

/// What cuTensorMapEncode… writes into a CUtensorMap. The layout is the emulator's own: NVIDIA's is
/// not documented. Dimensions go up from the one whose elements lie side by side.
struct TensorMap {
  static constexpr std::size_t max_rank = 5;
  static constexpr std::size_t alignment = 64;  // of the object, in bytes

  std::uint64_t mark;
  /// Means nothing. CUTLASS clears bit 21 of these bytes of small tensors, against an error of
  /// drivers up to 13.1.
  std::uint64_t free_for_programs;
  std::uint64_t address;                            // of element 0
  std::array<std::uint64_t, max_rank> dims;         // elements
  std::array<std::uint64_t, max_rank - 1> strides;  // bytes, of dimension 1 and up
  std::array<std::uint16_t, max_rank> box;          // elements that a box spans
  std::array<std::uint8_t, max_rank> element_strides;
  TensorElement type;
  std::uint8_t rank;
  Interleave interleave;
  Swizzle swizzle;
  bool fills_with_nan;
  std::uint8_t unused[8];
  std::uint32_t checksum;

  /// Elements of a box along a dimension: one for each step of the element stride.
  std::uint32_t steps(std::size_t dimension) const;
  std::uint32_t element_stride(std::size_t dimension) const;
  /// The bytes of a whole box in shared memory.
  std::size_t box_bytes() const;
  std::uint64_t stride(std::size_t dimension) const;  // bytes between neighbours
};
static_assert(sizeof(TensorMap) == 128);

/// Why cuTensorMapEncodeTiled forbids a map of this form; empty: it does not.
std::string problem_of(const TensorMap& map);
/// What the emulator lacks to use the map; empty: nothing.
std::string lacking_of(const TensorMap& map);

/// Completes a map whose other fields are set.
void seal(TensorMap& map);
/// Whether the emulator made this map, and nothing else has changed it.
bool is_sealed(const TensorMap& map);

}  // namespace emulator
