#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/core/dtype.h"

namespace assay {

/// Extents of a dense row-major tensor, outermost first. An empty shape is a scalar.
using Shape = std::vector<std::int64_t>;

/// Counts the elements. Saturates at 2^62.
inline std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count) || count > most) return most;
  }
  return count;
}

/// Kind of memory of a tensor. Devices refuse kinds that they do not have.
enum class Memory : std::uint8_t {
  standard,    // the device's default
  fenced,      // the same, and behind its last byte lie pages that nothing may touch
  huge_pages,  // host memory on pages of 2 MiB
  pageable,    // ordinary host memory, for a device with its own memory
  pinned,      // locked host memory, which the device can access directly
};

/// Describes a tensor, except for the address of its elements.
struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;
  /// Elements from one of each extent to the next, if the tensor is a view of other memory: rows
  /// that lie apart, columns of a matrix as rows. 0: the same elements over and over. Empty: dense,
  /// each right behind the last.
  std::vector<std::int64_t> strides = {};
  Memory memory = Memory::standard;
  /// Index in the lane of the device that holds the tensor, if the op is no collective.
  int device = 0;
  /// Extent along which the op works, if that is not the last one: 1 of (outer, n, inner).
  std::optional<std::size_t> axis;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_bytes(dtype); }

  std::int64_t row_elements() const { return shape.empty() ? 1 : shape.back(); }
  /// Lines are what rows are to an op of the last extent: elements that belong together.
  std::int64_t line_elements() const { return axis ? shape[*axis] : row_elements(); }
  /// Elements from one of a line to the next: the product of the extents behind the axis.
  std::int64_t line_step() const {
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); axis && i-- > *axis + 1;) step *= shape[i];
    return step;
  }
  /// Line of an element, counted as the lines' results lie, and its place there. Not of an empty
  /// tensor.
  std::int64_t line_of(std::int64_t element) const {
    const std::int64_t step = line_step();
    return element / (line_elements() * step) * step + element % step;
  }
  std::int64_t place_of(std::int64_t element) const {
    return element / line_step() % line_elements();
  }
  /// Element of a line at a place.
  std::int64_t element_of_line(std::int64_t line, std::int64_t place) const {
    const std::int64_t step = line_step();
    return (line / step * line_elements() + place) * step + line % step;
  }
  bool is_dense() const { return strides.empty(); }
  /// Counts the elements that have memory of their own: fewer than all where an extent is repeated.
  std::int64_t distinct_elements() const {
    std::int64_t count = elements();
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (strides[i] == 0 && shape[i] > 1) count /= shape[i];
    }
    return count;
  }
  /// True if elements share memory.
  bool repeats_elements() const { return distinct_elements() < elements(); }
  /// True for the first of the elements that share its memory.
  bool is_distinct(std::int64_t element) const {
    for (std::size_t i = strides.size(); i-- > 0; element /= shape[i]) {
      if (strides[i] == 0 && element % shape[i] > 0) return false;
    }
    return true;
  }
  /// Elements from the start of one row, along the last extent, to the start of the next.
  std::int64_t row_stride() const {
    return is_dense() || shape.size() < 2 ? row_elements() : strides[shape.size() - 2];
  }
  /// Elements from the first one to this one, in memory.
  std::int64_t offset_of(std::int64_t element) const {
    if (is_dense()) return element;
    std::int64_t offset = 0;
    for (std::size_t i = shape.size(); i-- > 0; element /= shape[i])
      offset += element % shape[i] * strides[i];
    return offset;
  }
  /// Bytes from the first element to the end of the last, gaps included.
  std::size_t span_bytes() const {
    if (is_dense() || elements() == 0) return bytes();
    return static_cast<std::size_t>(offset_of(elements() - 1) + 1) * size_bytes(dtype);
  }
};

}  // namespace assay
