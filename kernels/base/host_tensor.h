#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "kernels/base/tensor.h"

namespace assay {

/// A dense tensor in host memory. Its elements are indeterminate until written.
class HostTensor {
 public:
  /// Throws std::bad_alloc.
  explicit HostTensor(TensorSpec spec) : spec_(std::move(spec)), data_(allocate(spec_.bytes())) {}

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
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Storage = std::unique_ptr<std::byte[], Free>;

  /// Large ones on huge pages where the system has them: with pages of 4 KiB the first touch of a
  /// tensor takes longer than most ops on it.
  static Storage allocate(std::size_t bytes) {
    constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
    constexpr std::size_t line_bytes = 64;
    const std::size_t unit = bytes < 4 * huge_page_bytes ? line_bytes : huge_page_bytes;
    const std::size_t whole = std::max(unit, (bytes + unit - 1) / unit * unit);
    if (whole < bytes) throw std::bad_alloc();
    Storage memory(static_cast<std::byte*>(std::aligned_alloc(unit, whole)));
    if (!memory) throw std::bad_alloc();
    if (unit == huge_page_bytes) madvise(memory.get(), whole, MADV_HUGEPAGE);  // a wish
    return memory;
  }

  TensorSpec spec_;
  Storage data_;
};

}  // namespace assay
