#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/placement/devices.h"
#include "kernels/core/tensor_spec.h"

namespace assay::placement {

/// "f32[2, 3]".
std::string text(DType dtype, const Shape& shape);

/// A view of elements in the memory of one device. Copying the object copies the view: both share
/// the elements, which live until their last view is gone.
class Tensor {
 public:
  /// On the CPU unless told otherwise. The elements are indeterminate.
  Tensor(Devices& devices, DType dtype, const Shape& shape) : Tensor(devices.cpu(), dtype, shape) {}
  Tensor(Place& place, DType dtype, const Shape& shape);
  /// Wraps dense memory of another owner on `place`. It must outlive all views.
  static Tensor over(Place& place, void* memory, DType dtype, const Shape& shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  Place& place() const { return *place_; }
  std::int64_t elements() const { return element_count(shape_); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_bytes(dtype_); }
  /// Address of its first element on the device.
  std::byte* data() const { return first_; }
  /// True if the elements are contiguous in row-major order.
  bool is_dense() const;
  bool shares_memory_with(const Tensor& other) const { return storage_ == other.storage_; }

  /// View with rows and columns swapped. Needs two extents.
  Tensor transposed() const;
  /// View of the elements with first <= index < first + count along one extent.
  Tensor slice(std::size_t extent, std::int64_t first, std::int64_t count) const;
  /// View of the same elements in the same order. Needs a dense tensor.
  Tensor reshaped(const Shape& shape) const;
  /// Itself if dense, else a dense copy on the same place.
  Tensor dense() const;

  /// Itself if it is on that place already, else a dense copy of the view's elements in new memory
  /// there. Copies by way of the host; the suite `transfers` checks copies between devices.
  Tensor to(Place& place) const;
  Tensor cpu() const { return to(place().devices().cpu()); }
  /// Dense copy in new memory on the same place.
  Tensor clone() const;

  /// Overwrites its elements with those of a tensor of the same dtype and shape, from anywhere.
  /// Throws PlacementError for another.
  void copy_from(const Tensor& source);
  void fill(std::byte value);

  /// Copies its elements to the host in row-major order. Equal bytes are equal elements.
  std::vector<std::byte> read() const;
  void write(std::span<const std::byte> elements);

 private:
  struct Storage;
  Tensor() = default;

  std::size_t span_bytes() const;

  Place* place_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_;
  std::vector<std::int64_t> strides_;  // in elements
  std::byte* first_ = nullptr;
  std::shared_ptr<const Storage> storage_;
};

}  // namespace assay::placement
