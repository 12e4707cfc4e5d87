#include "harness/input/repeated.h"

#include <cstring>

namespace assay::input {

void repeat_elements(const TensorSpec& spec, std::span<std::byte> bytes) {
  if (!spec.repeats_elements()) return;
  std::size_t block = size_bytes(spec.dtype);  // bytes of one of the extent
  for (std::size_t i = spec.shape.size(); i-- > 0;) {
    const std::size_t extent = block * static_cast<std::size_t>(spec.shape[i]);
    if (spec.strides[i] == 0) {
      for (std::size_t begin = 0; begin < bytes.size(); begin += extent) {
        const std::byte* const first = &bytes[begin];
        for (std::size_t at = begin + block; at < begin + extent; at += block)
          std::memcpy(&bytes[at], first, block);
      }
    }
    block = extent;
  }
}

}  // namespace assay::input
