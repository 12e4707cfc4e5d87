#include "emulator/machine/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

namespace emulator {
namespace {

constexpr std::uint64_t own_mark = 0x70614d726f736e54;  // TnsorMap
constexpr std::uint64_t max_dim = std::uint64_t{1} << 32, end_of_strides = std::uint64_t{1} << 40;
constexpr unsigned max_box = 256, max_element_stride = 8;

struct ElementRow {
  std::string_view name;
  std::size_t bytes;
  bool is_float;
};
constexpr ElementRow elements[] = {
    {"UINT8", 1, false},        {"UINT16", 2, false},       {"UINT32", 4, false},
    {"INT32", 4, false},        {"UINT64", 8, false},       {"INT64", 8, false},
    {"FLOAT16", 2, true},       {"FLOAT32", 4, true},       {"FLOAT64", 8, true},
    {"BFLOAT16", 2, true},      {"FLOAT32_FTZ", 4, true},   {"TFLOAT32", 4, true},
    {"TFLOAT32_FTZ", 4, true},  {"16U4_ALIGN8B", 0, false}, {"16U4_ALIGN16B", 0, false},
    {"16U6_ALIGN16B", 0, false}};
const ElementRow& row_of(TensorElement type) { return elements[static_cast<std::size_t>(type)]; }

bool is_padded(TensorElement type) {
  return type == TensorElement::u4_align16 || type == TensorElement::u6_align16;
}

std::uint32_t checksum_of(const TensorMap& map) {
  // FNV-1a over all that stands between.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&map);
  std::uint32_t sum = 2166136261u;
  for (std::size_t i = offsetof(TensorMap, address); i < offsetof(TensorMap, checksum); ++i)
    sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

std::string problem_of_box(const TensorMap& map) {
  const std::size_t bytes = bytes_of(map.type);
  if (is_padded(map.type) && map.box[0] != 128)
    return fmt::format("boxDim[0] is 128 for {}, not {}", name_of(map.type), map.box[0]);
  if (map.interleave != Interleave::none) return {};
  const std::size_t inner = map.type == TensorElement::u4_align8 ? map.box[0] / 2u
                            : is_padded(map.type)                ? map.box[0]
                                                                 : map.box[0] * bytes;
  if (inner % 16 != 0) return fmt::format("the {} bytes of boxDim[0] are no multiple of 16", inner);
  if (map.swizzle != Swizzle::none && inner > span_of(map.swizzle))
    return fmt::format("the {} bytes of boxDim[0] are more than the swizzle's {}", inner,
                       span_of(map.swizzle));
  return {};
}

std::string problem_of_tensor(const TensorMap& map) {
  const std::size_t alignment =
      map.interleave == Interleave::slices_of_32 || is_padded(map.type) ? 32 : 16;
  if (map.address % alignment != 0)
    return fmt::format("globalAddress {:#x} is no multiple of {}", map.address, alignment);
  for (std::size_t i = 0; i < map.rank; ++i)
    if (map.dims[i] == 0 || map.dims[i] > max_dim)
      return fmt::format("globalDim[{}] is 1 to 2^32, not {}", i, map.dims[i]);
  if (is_padded(map.type) && map.dims[0] % 128 != 0)
    return fmt::format("globalDim[0] is a multiple of 128 for {}", name_of(map.type));
  if (map.type == TensorElement::u4_align8 && map.dims[0] % 2 != 0)
    return fmt::format("globalDim[0] is a multiple of 2 for {}", name_of(map.type));
  for (std::size_t i = 0; i + 1 < map.rank; ++i)
    if (map.strides[i] % alignment != 0 || map.strides[i] >= end_of_strides)
      return fmt::format("globalStrides[{}] is a multiple of {} below 2^40, not {}", i, alignment,
                         map.strides[i]);
  return {};
}

}  // namespace

std::string_view name_of(TensorElement type) { return row_of(type).name; }
std::size_t bytes_of(TensorElement type) { return row_of(type).bytes; }
bool is_float(TensorElement type) { return row_of(type).is_float; }

std::size_t span_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return 0;
    case Swizzle::span_32:
      return 32;
    case Swizzle::span_64:
      return 64;
    default:
      return 128;
  }
}

std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
  const std::uint64_t line = address / 128;
  switch (swizzle) {
    case Swizzle::span_32:
      return address ^ (line % 2) << 4;
    case Swizzle::span_64:
      return address ^ (line % 4) << 4;
    case Swizzle::span_128:
      return address ^ (line % 8) << 4;
    case Swizzle::span_128_by_32:
      return address ^ (line % 4) << 5;
    case Swizzle::span_128_by_64:
      return address ^ (line % 2) << 6;
    default:
      return address;
  }
}

std::uint32_t TensorMap::element_stride(std::size_t dimension) const {
  return dimension == 0 && interleave == Interleave::none ? 1 : element_strides[dimension];
}

std::uint32_t TensorMap::steps(std::size_t dimension) const {
  const std::uint32_t stride = element_stride(dimension);
  return (box[dimension] + stride - 1) / stride;
}

std::size_t TensorMap::box_bytes() const {
  std::size_t count = bytes_of(type);
  for (std::size_t i = 0; i < rank; ++i) count *= steps(i);
  return count;
}

std::uint64_t TensorMap::stride(std::size_t dimension) const {
  return dimension == 0 ? bytes_of(type) : strides[dimension - 1];
}

std::string problem_of(const TensorMap& map) {
  if (map.rank == 0 || map.rank > TensorMap::max_rank)
    return fmt::format("tensorRank is 1 to 5, not {}", map.rank);
  if (map.interleave != Interleave::none && map.rank < 3)
    return fmt::format("tensorRank is 3 to 5 with an interleaved layout, not {}", map.rank);
  if (std::string problem = problem_of_tensor(map); !problem.empty()) return problem;
  for (std::size_t i = 0; i < map.rank; ++i) {
    if (map.box[i] == 0 || map.box[i] > max_box)
      return fmt::format("boxDim[{}] is 1 to {}, not {}", i, max_box, map.box[i]);
    const bool is_ignored = i == 0 && map.interleave == Interleave::none;
    if (!is_ignored && (map.element_strides[i] == 0 || map.element_strides[i] > max_element_stride))
      return fmt::format("elementStrides[{}] is 1 to {}, not {}", i, max_element_stride,
                         map.element_strides[i]);
  }
  if (map.interleave == Interleave::slices_of_32 && map.swizzle != Swizzle::span_32)
    return "INTERLEAVE_32B goes with SWIZZLE_32B only";
  if (map.type == TensorElement::u6_align16 && map.interleave != Interleave::none)
    return "16U6_ALIGN16B has no interleaved layout";
  const bool fits_packed =
      map.swizzle == Swizzle::none || map.swizzle == Swizzle::span_128 ||
      map.swizzle == Swizzle::span_128_by_32 ||
      (map.swizzle == Swizzle::span_128_by_64 && map.type == TensorElement::u6_align16);
  if (is_padded(map.type) && !fits_packed)
    return fmt::format("{} does not go with this swizzle", name_of(map.type));
  if (map.fills_with_nan && !is_float(map.type))
    return fmt::format("FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA is for floats, not for {}",
                       name_of(map.type));
  return problem_of_box(map);
}

std::string lacking_of(const TensorMap& map) {
  if (map.interleave != Interleave::none)
    return "where the elements of an interleaved tensor lie is not documented in full, nor "
           "emulated";
  if (bytes_of(map.type) == 0)
    return fmt::format("packed elements ({}) are not emulated", name_of(map.type));
  if (map.swizzle == Swizzle::span_128_by_32_flipped)
    return "which rows SWIZZLE_128B_ATOM_32B_FLIP_8B flips is not documented, nor emulated";
  const std::size_t inner = map.box[0] * bytes_of(map.type), span = span_of(map.swizzle);
  if (inner < span)
    return fmt::format(
        "how {} bytes of boxDim[0] fill the {} of a swizzle's span is not documented "
        "in full, nor emulated",
        inner, span);
  return {};
}

void seal(TensorMap& map) {
  map.mark = own_mark;
  map.free_for_programs = 0;
  std::memset(map.unused, 0, sizeof map.unused);
  map.checksum = checksum_of(map);
}

bool is_sealed(const TensorMap& map) {
  return map.mark == own_mark && map.checksum == checksum_of(map);
}

}  // namespace emulator
