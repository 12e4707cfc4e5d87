#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "kernels/core/host_tensor.h"
#include "kernels/device/device.h"

namespace assay::input {

/// A tensor on a device between two guard bands, the second of which begins right behind the last
/// element; the gaps between rows that lie apart are guarded too. Whatever a kernel writes outside
/// its tensor shows in them; and because their content changes between launches, what it reads
/// there shows as a result that changes.
class GuardedTensor {
 public:
  GuardedTensor(Device& device, const TensorSpec& spec);

  std::byte* data() const { return buffer_.data() + front_bytes_; }
  const TensorSpec& spec() const { return spec_; }
  const Device& device() const { return buffer_.device(); }

  /// The UUID of the device that holds it in truth, as the driver tells; perhaps empty.
  std::string holder() const { return buffer_.device().owner_uuid(buffer_.data()); }

  /// Fills both bands, and the gaps, with `guard`.
  void set_guards(std::byte guard);
  /// Fills the tensor with `poison`, so that an element that is not written shows.
  void poison(std::byte poison);

  void upload(const HostTensor& tensor);
  void download(HostTensor& tensor) const;
  /// Its elements where they lie, if the host can read them there as they would be downloaded.
  std::optional<std::span<const std::byte>> readable() const;
  /// The index of the first element that is not, bit for bit, as in `tensor`; read block by block.
  std::optional<std::size_t> first_difference(const HostTensor& tensor) const;

  /// What was written outside the tensor since set_guards: "3 bytes written before the start, from
  /// 8 bytes away". Nothing when the bands are whole.
  std::optional<std::string> damage() const;

 private:
  /// A row in host memory, and the gap behind it; none behind the last one.
  using RowBody =
      std::function<void(std::size_t row, std::span<std::byte> elements, std::span<std::byte> gap)>;
  void read_rows(const RowBody& body) const;
  /// What `body` changes is changed in the tensor.
  void change_rows(const RowBody& body);
  void for_each_block(const RowBody& body, bool write_back) const;

  TensorSpec spec_;
  std::size_t front_bytes_;
  std::size_t back_bytes_;
  std::size_t rows_;        // 1 where they follow each other directly
  std::size_t row_bytes_;   // of the elements of a row
  std::size_t step_bytes_;  // from row to row
  Buffer buffer_;
  std::byte guard_{0};
};

}  // namespace assay::input
