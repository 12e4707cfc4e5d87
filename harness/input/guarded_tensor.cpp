#include "harness/input/guarded_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay::input {
namespace {

constexpr std::size_t smallest_band_bytes = 4096;
constexpr std::size_t largest_band_bytes = std::size_t{1} << 20;

/// A row of the tensor or a page, whichever is longer: kernels that overrun do so by rows of tiles.
/// A multiple of the page size, which keeps the tensor aligned.
std::size_t band_bytes(const TensorSpec& spec) {
  const std::int64_t row = spec.shape.empty() ? 1 : spec.shape.back();
  const std::size_t row_bytes = static_cast<std::size_t>(row) * size_bytes(spec.dtype);
  const std::size_t pages = (row_bytes + smallest_band_bytes - 1) / smallest_band_bytes;
  return std::clamp(pages * smallest_band_bytes, smallest_band_bytes, largest_band_bytes);
}

}  // namespace

GuardedTensor::GuardedTensor(Device& device, const TensorSpec& spec)
    : spec_(spec),
      front_bytes_(band_bytes(spec)),
      back_bytes_(band_bytes(spec)),
      rows_(spec.has_gaps() && spec.elements() > 0
                ? static_cast<std::size_t>(spec.elements() / spec.row_elements())
                : 1),
      row_bytes_(spec.bytes() / rows_),
      step_bytes_(static_cast<std::size_t>(spec.row_stride) * size_bytes(spec.dtype)),
      buffer_(device, front_bytes_ + spec.span_bytes() + back_bytes_, spec.memory) {}

void GuardedTensor::set_guards(std::byte guard) {
  guard_ = guard;
  Device& device = buffer_.device();
  device.fill(buffer_.data(), guard, front_bytes_);
  device.fill(data() + spec_.span_bytes(), guard, back_bytes_);
  if (rows_ == 1) return;
  std::vector<std::byte> image = download_span();
  for_each_gap([&](std::size_t at, std::size_t bytes) {
    std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(at), bytes, guard);
  });
  device.upload(data(), image.data(), image.size());
}

void GuardedTensor::poison(std::byte poison) {
  if (rows_ == 1) {
    buffer_.device().fill(data(), poison, spec_.bytes());
    return;
  }
  HostTensor tensor(spec_);
  std::ranges::fill(tensor.bytes(), poison);
  upload(tensor);
}

void GuardedTensor::upload(const HostTensor& tensor) {
  if (rows_ == 1) {
    buffer_.device().upload(data(), tensor.bytes().data(), spec_.bytes());
    return;
  }
  std::vector<std::byte> image = download_span();
  for (std::size_t row = 0; row < rows_; ++row) {
    std::memcpy(image.data() + row * step_bytes_, tensor.bytes().data() + row * row_bytes_,
                row_bytes_);
  }
  buffer_.device().upload(data(), image.data(), image.size());
}

HostTensor GuardedTensor::download() const {
  HostTensor tensor(spec_);
  if (rows_ == 1) {
    buffer_.device().download(tensor.bytes().data(), data(), spec_.bytes());
    return tensor;
  }
  const std::vector<std::byte> image = download_span();
  for (std::size_t row = 0; row < rows_; ++row) {
    std::memcpy(tensor.bytes().data() + row * row_bytes_, image.data() + row * step_bytes_,
                row_bytes_);
  }
  return tensor;
}

std::vector<std::byte> GuardedTensor::download_span() const {
  std::vector<std::byte> image(spec_.span_bytes());
  buffer_.device().download(image.data(), data(), image.size());
  return image;
}

void GuardedTensor::for_each_gap(
    const std::function<void(std::size_t at, std::size_t bytes)>& body) const {
  for (std::size_t row = 0; row + 1 < rows_; ++row) {
    body(row * step_bytes_ + row_bytes_, step_bytes_ - row_bytes_);
  }
}

std::optional<std::string> GuardedTensor::damage() const {
  std::vector<std::byte> band(std::max(front_bytes_, back_bytes_));
  const auto is_damaged = [&](std::byte b) { return b != guard_; };

  buffer_.device().download(band.data(), buffer_.data(), front_bytes_);
  const auto front_end = band.begin() + static_cast<std::ptrdiff_t>(front_bytes_);
  if (const auto count = std::count_if(band.begin(), front_end, is_damaged); count > 0) {
    const auto first = std::find_if(band.begin(), front_end, is_damaged);
    return fmt::format("{} bytes written before the start, from {} bytes away", count,
                       front_end - first);
  }
  buffer_.device().download(band.data(), data() + spec_.span_bytes(), back_bytes_);
  const auto back_end = band.begin() + static_cast<std::ptrdiff_t>(back_bytes_);
  if (const auto count = std::count_if(band.begin(), back_end, is_damaged); count > 0) {
    const auto first = std::find_if(band.begin(), back_end, is_damaged);
    return fmt::format("{} bytes written past the end, from byte +{}", count, first - band.begin());
  }
  if (rows_ == 1) return std::nullopt;
  const std::vector<std::byte> image = download_span();
  std::size_t wrong = 0;
  std::size_t first_wrong = 0;
  for_each_gap([&](std::size_t at, std::size_t bytes) {
    for (std::size_t i = at; i < at + bytes; ++i) {
      if (is_damaged(image[i]) && wrong++ == 0) first_wrong = i;
    }
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} bytes written between rows, from byte {} of the gap behind row {}", wrong,
                     first_wrong % step_bytes_ - row_bytes_, first_wrong / step_bytes_);
}

}  // namespace assay::input
