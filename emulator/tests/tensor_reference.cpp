#include "emulator/tests/tensor_reference.h"

namespace emulator::test {
namespace {

// The tables of "Swizzling Modes": the chunk of 16 bytes that lies at each place of a line.
using Line = std::array<std::size_t, 8>;
const std::vector<Line> by_16{{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                              {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                              {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                              {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};

std::vector<Line> pattern_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::span_32:
      return {by_16[0], by_16[1]};
    case Swizzle::span_64:
      return {by_16[0], by_16[1], by_16[2], by_16[3]};
    case Swizzle::span_128:
      return by_16;
    case Swizzle::span_128_by_32:
      return {by_16[0], by_16[2], by_16[4], by_16[6]};
    case Swizzle::span_128_by_64:
      return {by_16[0], by_16[4]};
    default:
      return {by_16[0]};
  }
}

std::size_t place_of(Swizzle swizzle, std::size_t address) {
  const std::vector<Line> pattern = pattern_of(swizzle);
  const Line& line = pattern[address / 128 % pattern.size()];
  for (std::size_t place = 0; place < line.size(); ++place)
    if (line[place] == address % 128 / 16) return address / 128 * 128 + place * 16 + address % 16;
  return address;
}

}  // namespace

TensorMap tensor_map(TensorElement type, std::uint64_t address,
                     const std::vector<std::uint64_t>& dims, const std::vector<unsigned>& box,
                     Swizzle swizzle, std::uint64_t padding) {
  TensorMap map{};
  map.type = type;
  map.address = address;
  map.rank = static_cast<std::uint8_t>(dims.size());
  map.swizzle = swizzle;
  std::uint64_t bytes = bytes_of(type);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    map.dims[i] = dims[i];
    map.box[i] = static_cast<std::uint16_t>(box[i]);
    map.element_strides[i] = 1;
    bytes = (bytes * dims[i] + 15) / 16 * 16 + padding;
    if (i + 1 < dims.size()) map.strides[i] = bytes;
  }
  seal(map);
  return map;
}

std::vector<BoxByte> bytes_of_box(const TensorMap& map, const std::vector<std::int64_t>& at,
                                  std::size_t shared_address) {
  std::vector<BoxByte> result;
  const std::size_t bytes = bytes_of(map.type);
  // Counts elements of the box as digits, the innermost dimension first.
  std::array<std::size_t, 5> size{1, 1, 1, 1, 1};
  std::size_t count = 1;
  for (std::size_t i = 0; i < map.rank; ++i) {
    const std::size_t stride = i == 0 ? 1 : map.element_strides[i];
    size[i] = map.box[i] / stride + (map.box[i] % stride == 0 ? 0 : 1);
    count *= size[i];
  }
  for (std::size_t element = 0; element < count; ++element) {
    std::int64_t offset = 0;
    bool is_inside = true;
    std::size_t rest = element;
    for (std::size_t i = 0; i < map.rank; ++i) {
      const std::size_t digit = rest % size[i];
      rest /= size[i];
      const std::int64_t where =
          at[i] + static_cast<std::int64_t>(digit * (i == 0 ? 1 : map.element_strides[i]));
      is_inside = is_inside && where >= 0 && static_cast<std::uint64_t>(where) < map.dims[i];
      const std::uint64_t apart = i == 0 ? bytes : map.strides[i - 1];
      offset += where * static_cast<std::int64_t>(apart);
    }
    for (std::size_t k = 0; k < bytes; ++k)
      result.push_back(
          {is_inside ? offset + static_cast<std::int64_t>(k) : -1,
           place_of(map.swizzle, shared_address + element * bytes + k) - shared_address});
  }
  return result;
}

}  // namespace emulator::test
