#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "kernels/core/tensor_spec.h"

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
    std::size_t mapped_bytes;  // 0: on the heap
    void operator()(std::byte* memory) const {
      if (mapped_bytes > 0) {
        munmap(memory, mapped_bytes);
      } else {
        std::free(memory);
      }
    }
  };
  using Storage = std::unique_ptr<std::byte[], Free>;

  static Storage allocate(std::size_t bytes) {
    constexpr std::size_t line_bytes = 64;
    if (bytes >= 4 * huge_page_bytes) return map_huge_pages(bytes);
    const std::size_t whole = std::max(line_bytes, rounded_up(bytes, line_bytes));
    Storage memory(static_cast<std::byte*>(std::aligned_alloc(line_bytes, whole)), Free{0});
    if (!memory) throw std::bad_alloc();
    return memory;
  }

  /// Maps large tensors on huge pages where the system has them: with 4 KiB pages the first touch
  /// of a tensor takes longer than most ops on it. Uses separate mappings: freed heap memory keeps
  /// its huge pages, so tensors timed by a later case would lie on them, unlike those of a case
  /// that runs alone.
  static Storage map_huge_pages(std::size_t bytes) {
    const std::size_t whole = rounded_up(bytes, huge_page_bytes);
    if (whole < bytes || whole + huge_page_bytes < whole) throw std::bad_alloc();
    const std::size_t reserved_bytes = whole + huge_page_bytes;  // contains an aligned part
    void* reserved =
        mmap(nullptr, reserved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserved == MAP_FAILED) throw std::bad_alloc();
    auto* begin = static_cast<std::byte*>(reserved);
    const std::size_t before =
        (huge_page_bytes - reinterpret_cast<std::uintptr_t>(begin) % huge_page_bytes) %
        huge_page_bytes;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + whole, huge_page_bytes - before);
    Storage memory(begin + before, Free{whole});
    madvise(memory.get(), whole, MADV_HUGEPAGE);  // advice only
    return memory;
  }

  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  }

  TensorSpec spec_;
  Storage data_;
};

}  // namespace assay
