#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/machine/tensor_map.h"

namespace emulator::test {

/// A map of elements side by side; sealed. Strides of dimensions have `padding` bytes more.
TensorMap tensor_map(TensorElement type, std::uint64_t address,
                     const std::vector<std::uint64_t>& dims, const std::vector<unsigned>& box,
                     Swizzle swizzle = Swizzle::none, std::uint64_t padding = 0);

/// Where each byte of a box lies: PTX ISA, chapter "Tensors", element by element. `global` is -1
/// out of bounds, else a number of bytes from the tensor's address; `shared` counts from the box.
struct BoxByte {
  std::int64_t global;
  std::size_t shared;
};
/// `shared_address` is that of the box.
std::vector<BoxByte> bytes_of_box(const TensorMap& map, const std::vector<std::int64_t>& at,
                                  std::size_t shared_address);

}  // namespace emulator::test
