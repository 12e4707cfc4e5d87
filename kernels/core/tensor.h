#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/dtype.h"

namespace assay {

/// Extents of a dense row-major tensor, outermost first. An empty shape is a scalar.
using Shape = std::vector<std::int64_t>;

/// Saturates: a product beyond 2^62 is 2^62.
inline std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count) || count > most) return most;
  }
  return count;
}

/// In what kind of memory a tensor lies. Devices refuse kinds that they do not have.
enum class Memory : std::uint8_t {
  standard,    // what the device gives unasked
  huge_pages,  // of the host, on pages of 2 MiB
  pageable,    // of the host, as programs get it, for a device with memory of its own
  pinned,      // the same, locked in place, so that the device can reach it by itself
};

/// What a tensor is, apart from where its elements lie.
struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;
  /// Elements from the start of one row (along the last extent) to that of the next, where rows do
  /// not follow each other directly; 0: they do.
  std::int64_t row_stride = 0;
  Memory memory = Memory::standard;
  /// Which device of the lane holds it, where the op is no collective.
  int device = 0;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_bytes(dtype); }

  std::int64_t row_elements() const { return shape.empty() ? 1 : shape.back(); }
  bool has_gaps() const { return row_stride > row_elements(); }
  /// Bytes from the first element to the end of the last, gaps included.
  std::size_t span_bytes() const {
    if (!has_gaps() || elements() == 0) return bytes();
    const std::int64_t rows = elements() / row_elements();
    return static_cast<std::size_t>((rows - 1) * row_stride + row_elements()) * size_bytes(dtype);
  }
};

}  // namespace assay
