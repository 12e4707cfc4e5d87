#include "harness/placement/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/placement/error.h"
#include "kernels/device/device.h"

namespace assay::placement {

std::string text(DType dtype, const Shape& shape) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ", "));
}

/// Memory that views share: the layer's own, or borrowed.
struct Tensor::Storage {
  std::optional<Buffer> own;
};

namespace {

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls `body(offset)` with the offset, in elements, of each element from the first one, in
/// row-major order.
template <class Body>
void for_each_offset(const Shape& shape, const std::vector<std::int64_t>& strides,
                     const Body& body) {
  const std::int64_t count = element_count(shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    body(static_cast<std::size_t>(offset));
    for (std::size_t e = shape.size(); e-- > 0;) {
      offset += strides[e];
      if (++index[e] < shape[e]) break;
      offset -= strides[e] * shape[e];
      index[e] = 0;
    }
  }
}

}  // namespace

Tensor::Tensor(Place& place, DType dtype, const Shape& shape)
    : place_(&place), dtype_(dtype), shape_(shape), strides_(dense_strides(shape)) {
  auto storage = std::make_shared<Storage>();
  first_ = storage->own.emplace(place.device(), std::max<std::size_t>(bytes(), 1)).data();
  storage_ = std::move(storage);
}

Tensor Tensor::over(Place& place, void* memory, DType dtype, const Shape& shape) {
  Tensor tensor;
  tensor.place_ = &place;
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  tensor.strides_ = dense_strides(shape);
  tensor.first_ = static_cast<std::byte*>(memory);
  tensor.storage_ = std::make_shared<Storage>();
  return tensor;
}

bool Tensor::is_dense() const {
  const std::vector<std::int64_t> dense = dense_strides(shape_);
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    if (shape_[i] > 1 && strides_[i] != dense[i]) return false;
  }
  return true;
}

Tensor Tensor::transposed() const {
  if (shape_.size() != 2) {
    throw PlacementError(fmt::format("transposed: {} has not two extents", text(dtype_, shape_)));
  }
  Tensor view = *this;
  std::swap(view.shape_[0], view.shape_[1]);
  std::swap(view.strides_[0], view.strides_[1]);
  return view;
}

Tensor Tensor::slice(std::size_t extent, std::int64_t first, std::int64_t count) const {
  if (extent >= shape_.size() || first < 0 || count < 0 || first > shape_[extent] - count) {
    throw PlacementError(fmt::format("slice: {} has no elements {} to {} along extent {}",
                                     text(dtype_, shape_), first, first + count, extent));
  }
  Tensor view = *this;
  view.shape_[extent] = count;
  view.first_ += static_cast<std::size_t>(first * strides_[extent]) * size_bytes(dtype_);
  return view;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (!is_dense() || element_count(shape) != elements()) {
    throw PlacementError(
        fmt::format("reshaped: {} is no {}", text(dtype_, shape_), text(dtype_, shape)));
  }
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = dense_strides(shape);
  return view;
}

Tensor Tensor::dense() const { return is_dense() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor copy(*place_, dtype_, shape_);
  copy.copy_from(*this);
  return copy;
}

Tensor Tensor::to(Place& place) const {
  if (&place == place_) return *this;
  Tensor copy(place, dtype_, shape_);
  copy.copy_from(*this);
  return copy;
}

void Tensor::copy_from(const Tensor& source) {
  if (source.dtype_ != dtype_ || source.shape_ != shape_) {
    throw PlacementError(fmt::format("copy: {} on {} does not fit into {} on {}",
                                     text(source.dtype_, source.shape_), source.place_->text(),
                                     text(dtype_, shape_), place_->text()));
  }
  if (source.is_dense() && source.place_->device().is_readable_by_host()) {
    write({source.first_, source.bytes()});
  } else {
    write(source.read());
  }
}

void Tensor::fill(std::byte value) { write(std::vector<std::byte>(bytes(), value)); }

/// Bytes from its first element to the end of its last.
std::size_t Tensor::span_bytes() const {
  if (elements() == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape_.size(); ++i) last += (shape_[i] - 1) * strides_[i];
  return static_cast<std::size_t>(last + 1) * size_bytes(dtype_);
}

std::vector<std::byte> Tensor::read() const {
  std::vector<std::byte> span(span_bytes());
  if (!span.empty()) place_->device().download(span.data(), first_, span.size());
  if (is_dense()) return span;
  std::vector<std::byte> elements;
  elements.reserve(bytes());
  const std::size_t size = size_bytes(dtype_);
  for_each_offset(shape_, strides_, [&](std::size_t offset) {
    const auto at = span.begin() + static_cast<std::ptrdiff_t>(offset * size);
    elements.insert(elements.end(), at, at + static_cast<std::ptrdiff_t>(size));
  });
  return elements;
}

void Tensor::write(std::span<const std::byte> elements) {
  if (elements.size() != bytes()) {
    throw PlacementError(fmt::format("write: {} takes {} bytes, not {}", text(dtype_, shape_),
                                     bytes(), elements.size()));
  }
  if (elements.empty()) return;
  if (is_dense()) {
    place_->device().upload(first_, elements.data(), elements.size());
    return;
  }
  // Bytes between the elements of a view belong to others.
  std::vector<std::byte> span(span_bytes());
  place_->device().download(span.data(), first_, span.size());
  const std::size_t size = size_bytes(dtype_);
  const std::byte* next = elements.data();
  for_each_offset(shape_, strides_, [&](std::size_t offset) {
    std::memcpy(&span[offset * size], next, size);
    next += size;
  });
  place_->device().upload(first_, span.data(), span.size());
}

}  // namespace assay::placement
