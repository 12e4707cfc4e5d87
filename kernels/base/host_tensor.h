#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "kernels/base/tensor.h"

namespace assay {

/// A dense tensor in host memory. Its elements are indeterminate until written.
class HostTensor {
 public:
  explicit HostTensor(TensorSpec spec)
      : spec_(std::move(spec)), data_(std::make_unique_for_overwrite<std::byte[]>(spec_.bytes())) {}

  const TensorSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {data_.get(), spec_.bytes()}; }
  std::span<const std::byte> bytes() const { return {data_.get(), spec_.bytes()}; }

  /// The elements as T, which must be the storage type of the dtype.
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(spec_.elements())};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(spec_.elements())};
  }

 private:
  TensorSpec spec_;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace assay
