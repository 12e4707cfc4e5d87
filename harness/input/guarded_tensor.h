#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "harness/input/memory_order.h"
#include "kernels/core/host_tensor.h"
#include "kernels/device/device.h"

namespace assay::input {

/// Place of a tensor within its memory.
enum class Layout {
  aligned,  // begins as the device's memory does, with guard bands on both sides
  shifted,  // likewise, but an element later: at a multiple of its elements' size and of no more
  fenced,   // ends where memory ends: a read past its end breaks its process. Only on devices with
            // fences (Device::has_fences), of their standard memory; otherwise as `aligned`
};

/// A tensor on a device between two guard bands. The second band begins right behind the last
/// element. Gaps between elements of a view are guarded too. A write outside the tensor shows in
/// the guards. Their content changes between launches, so a read there shows as a changing result.
class GuardedTensor {
 public:
  GuardedTensor(Device& device, const TensorSpec& spec, Layout layout = Layout::aligned);

  std::byte* data() const { return buffer_.data() + front_bytes_; }
  const TensorSpec& spec() const { return spec_; }
  const Device& device() const { return buffer_.device(); }

  /// UUID of the device that really holds it, by the driver; may be empty.
  std::string holder() const { return buffer_.device().owner_uuid(buffer_.data()); }

  /// Fills both bands, and the gaps, with `guard`.
  void set_guards(std::byte guard);
  /// Fills the tensor with `poison`, so that an unwritten element shows.
  void poison(std::byte poison);
  /// Both.
  void arm(std::byte guard, std::byte poison);

  void upload(const HostTensor& tensor);
  /// A run of the elements' bytes from byte `first` on, as they would lie without gaps.
  template <class Byte>
  struct Run {
    std::size_t first;
    std::span<Byte> bytes;
  };
  /// Replaces bytes from byte `first` on.
  void replace(std::size_t first, std::span<const std::byte> bytes) {
    const Run<const std::byte> run{first, bytes};
    write({&run, 1});
  }
  /// Replaces the bytes of each run.
  void write(std::span<const Run<const std::byte>> runs);
  /// Reads the bytes of each run.
  void read(std::span<const Run<std::byte>> runs) const;
  void download(HostTensor& tensor) const;
  /// Its elements in place, if the host can read there the bytes that a download gives.
  std::optional<std::span<const std::byte>> readable() const;
  /// Index of the first element whose bits differ from `tensor`. Reads block by block.
  std::optional<std::size_t> first_difference(const HostTensor& tensor) const;

  /// Describes writes outside the tensor since set_guards: "3 bytes written before the start, from
  /// 8 bytes away". Empty if all guards are whole.
  std::optional<std::string> damage() const;

 private:
  /// Calls `body` with each part of a run that lies together, and where that is.
  template <class Byte, class Body>
  void for_each_part(std::span<const Run<Byte>> runs, const Body& body) const;
  /// Calls body(first, elements, gap) with each run of elements in host memory, of which `first` is
  /// the first, and the gap behind it; the last run has none.
  template <class Body>
  void read_runs(const Body& body) const;
  /// Writes the changes of `body` back to the tensor.
  template <class Body>
  void change_runs(const Body& body);
  template <class Body>
  void for_each_block(const Body& body, bool write_back) const;
  bool is_together() const { return order_.run_elements() == spec_.elements(); }
  std::size_t bytes_of(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * element_bytes_;
  }
  /// A transfer or two of so many bytes cost less than one more call of a driver, or message.
  bool is_small(std::size_t bytes) const;

  TensorSpec spec_;
  std::size_t element_bytes_;
  bool is_fenced_;
  std::size_t front_bytes_;
  std::size_t back_bytes_;  // 0 before a fence
  MemoryOrder order_;
  Buffer buffer_;
  std::byte guard_{0};
};

}  // namespace assay::input
