#include "harness/input/guarded_tensor.h"

#include <fmt/format.h>

#include <algorithm>
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
      buffer_(device, front_bytes_ + spec.bytes() + back_bytes_) {}

void GuardedTensor::set_guards(std::byte guard) {
  guard_ = guard;
  buffer_.device().fill(buffer_.data(), guard, front_bytes_);
  buffer_.device().fill(data() + spec_.bytes(), guard, back_bytes_);
}

void GuardedTensor::poison(std::byte poison) {
  buffer_.device().fill(data(), poison, spec_.bytes());
}

void GuardedTensor::upload(const HostTensor& tensor) {
  buffer_.device().upload(data(), tensor.bytes().data(), spec_.bytes());
}

HostTensor GuardedTensor::download() const {
  HostTensor tensor(spec_);
  buffer_.device().download(tensor.bytes().data(), data(), spec_.bytes());
  return tensor;
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
  buffer_.device().download(band.data(), data() + spec_.bytes(), back_bytes_);
  const auto back_end = band.begin() + static_cast<std::ptrdiff_t>(back_bytes_);
  if (const auto count = std::count_if(band.begin(), back_end, is_damaged); count > 0) {
    const auto first = std::find_if(band.begin(), back_end, is_damaged);
    return fmt::format("{} bytes written past the end, from byte +{}", count, first - band.begin());
  }
  return std::nullopt;
}

}  // namespace assay::input
