#include "harness/input/guarded_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "harness/input/first_difference.h"
#include "harness/input/repeated.h"

namespace assay::input {
namespace {

constexpr std::size_t min_band_bytes = 4096;
constexpr std::size_t max_band_bytes = std::size_t{1} << 20;
/// Size of the blocks in which the host reads a tensor without copying it whole.
constexpr std::size_t block_bytes = std::size_t{4} << 20;
/// Most runs of a block, whose places are listed.
constexpr std::int64_t max_runs = 1 << 16;

/// Size of a band: a row of the tensor or a page, whichever is longer, since kernels overrun by
/// rows of tiles. A multiple of the page size keeps the tensor aligned.
std::size_t band_bytes(const TensorSpec& spec) {
  const std::int64_t row = spec.shape.empty() ? 1 : spec.shape.back();
  const std::size_t row_bytes = static_cast<std::size_t>(row) * size_bytes(spec.dtype);
  const std::size_t pages = (row_bytes + min_band_bytes - 1) / min_band_bytes;
  return std::clamp(pages * min_band_bytes, min_band_bytes, max_band_bytes);
}

std::size_t as_size(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace

GuardedTensor::GuardedTensor(Device& device, const TensorSpec& spec, Layout layout)
    : spec_(spec),
      element_bytes_(size_bytes(spec.dtype)),
      is_fenced_(layout == Layout::fenced && spec.memory == Memory::standard &&
                 device.has_fences()),
      front_bytes_(band_bytes(spec) + (layout == Layout::shifted ? size_bytes(spec.dtype) : 0)),
      back_bytes_(is_fenced_ ? 0 : band_bytes(spec)),
      order_(spec),
      buffer_(device, front_bytes_ + spec.span_bytes() + back_bytes_,
              is_fenced_ ? Memory::fenced : spec.memory) {}

bool GuardedTensor::is_small(std::size_t bytes) const {
  constexpr std::size_t max_bytes = std::size_t{1} << 17;
  return bytes <= max_bytes && !buffer_.device().is_readable_by_host();
}

template <class Body>
void GuardedTensor::for_each_block(const Body& body, bool write_back) const {
  Device& device = buffer_.device();
  const bool is_in_place = device.is_readable_by_host();
  const std::int64_t all = order_.runs();
  const std::size_t run_bytes = bytes_of(order_.run_elements());
  const std::size_t step_bytes = std::max<std::size_t>(1, spec_.span_bytes() / as_size(all));
  const auto at_once = std::clamp<std::int64_t>(static_cast<std::int64_t>(block_bytes / step_bytes),
                                                1, std::min(all, max_runs));
  std::vector<MemoryOrder::Run> runs(as_size(at_once + 1));
  std::vector<std::byte> image;
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    // A block ends where the next run begins, the last one with its run.
    const bool is_last = first + count == all;
    order_.list(first, std::span(runs).first(as_size(count + (is_last ? 0 : 1))));
    const auto offset = [&](std::int64_t i) { return bytes_of(runs[as_size(i)].offset); };
    const std::size_t begin = offset(0);
    const std::size_t end = is_last ? spec_.span_bytes() : offset(count);
    std::span<std::byte> block(data() + begin, end - begin);
    if (!is_in_place) {
      image.resize(end - begin);
      device.download(image.data(), data() + begin, image.size());
      block = image;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t at = offset(i) - begin;
      const std::size_t behind = at + run_bytes;
      const std::size_t next = i + 1 < count ? offset(i + 1) - begin : block.size();
      body(runs[as_size(i)].element, block.subspan(at, run_bytes),
           block.subspan(behind, next - behind));
    }
    if (write_back && !is_in_place) device.upload(data() + begin, image.data(), image.size());
  }
}

template <class Body>
void GuardedTensor::read_runs(const Body& body) const {
  for_each_block(body, false);
}

template <class Body>
void GuardedTensor::change_runs(const Body& body) {
  for_each_block(body, true);
}

void GuardedTensor::set_guards(std::byte guard) {
  guard_ = guard;
  Device& device = buffer_.device();
  const std::size_t behind = front_bytes_ + spec_.span_bytes();
  if (is_small(front_bytes_ + back_bytes_) && !is_fenced_) {
    const std::vector<std::byte> band(std::max(front_bytes_, back_bytes_), guard);
    const std::array bands{SourcePiece{0, std::span(band).first(front_bytes_)},
                           SourcePiece{behind, std::span(band).first(back_bytes_)}};
    device.upload_pieces(buffer_.data(), bands);
  } else {
    device.fill(buffer_.data(), guard, front_bytes_);
    if (!is_fenced_) device.fill(buffer_.data() + behind, guard, back_bytes_);
  }
  if (is_together()) return;
  change_runs([&](std::int64_t, std::span<std::byte>, std::span<std::byte> gap) {
    std::ranges::fill(gap, guard);
  });
}

void GuardedTensor::arm(std::byte guard, std::byte poison) {
  if (is_together() && is_small(buffer_.bytes())) {
    guard_ = guard;
    std::vector<std::byte> image(buffer_.bytes(), guard);
    std::ranges::fill(std::span(image).subspan(front_bytes_, spec_.bytes()), poison);
    buffer_.device().upload(buffer_.data(), image.data(), image.size());
    return;
  }
  set_guards(guard);
  this->poison(poison);
}

void GuardedTensor::poison(std::byte poison) {
  if (is_together()) {
    buffer_.device().fill(data(), poison, spec_.bytes());
    return;
  }
  change_runs([&](std::int64_t, std::span<std::byte> run, std::span<std::byte>) {
    std::ranges::fill(run, poison);
  });
}

void GuardedTensor::upload(const HostTensor& tensor) {
  if (is_together()) {
    buffer_.device().upload(data(), tensor.bytes().data(), spec_.bytes());
    return;
  }
  change_runs([&](std::int64_t first, std::span<std::byte> run, std::span<std::byte>) {
    std::memcpy(run.data(), tensor.bytes().data() + bytes_of(first), run.size());
  });
}

template <class Byte, class Body>
void GuardedTensor::for_each_part(std::span<const Run<Byte>> runs, const Body& body) const {
  const std::size_t run_bytes = bytes_of(order_.run_elements());
  for (const Run<Byte>& run : runs) {
    std::size_t first = run.first;
    for (std::span<Byte> bytes = run.bytes; !bytes.empty();) {
      const std::size_t within = first % run_bytes;
      const std::size_t count = std::min(bytes.size(), run_bytes - within);
      const auto run_begin = static_cast<std::int64_t>((first - within) / element_bytes_);
      body(data() + bytes_of(spec_.offset_of(run_begin)) + within, bytes.first(count));
      first += count;
      bytes = bytes.subspan(count);
    }
  }
}

void GuardedTensor::write(std::span<const Run<const std::byte>> runs) {
  if (buffer_.device().is_readable_by_host()) {
    for_each_part(runs, [](std::byte* at, std::span<const std::byte> part) {
      std::memcpy(at, part.data(), part.size());
    });
    return;
  }
  std::vector<SourcePiece> pieces;
  for_each_part(runs, [&](std::byte* at, std::span<const std::byte> part) {
    pieces.push_back({static_cast<std::size_t>(at - data()), part});
  });
  buffer_.device().upload_pieces(data(), pieces);
}

void GuardedTensor::read(std::span<const Run<std::byte>> runs) const {
  if (buffer_.device().is_readable_by_host()) {
    for_each_part(runs, [](const std::byte* at, std::span<std::byte> part) {
      std::memcpy(part.data(), at, part.size());
    });
    return;
  }
  std::vector<Piece> pieces;
  for_each_part(runs, [&](const std::byte* at, std::span<std::byte> part) {
    pieces.push_back({static_cast<std::size_t>(at - data()), part});
  });
  buffer_.device().download_pieces(data(), pieces);
}

void GuardedTensor::download(HostTensor& tensor) const {
  if (is_together()) {
    buffer_.device().download(tensor.bytes().data(), data(), spec_.bytes());
    return;
  }
  read_runs([&](std::int64_t first, std::span<std::byte> run, std::span<std::byte>) {
    std::memcpy(tensor.bytes().data() + bytes_of(first), run.data(), run.size());
  });
  repeat_elements(spec_, tensor.bytes());
}

std::optional<std::span<const std::byte>> GuardedTensor::readable() const {
  if (!is_together() || !buffer_.device().is_readable_by_host()) return std::nullopt;
  return std::span<const std::byte>(data(), spec_.bytes());
}

std::optional<std::size_t> GuardedTensor::first_difference(const HostTensor& tensor) const {
  if (const auto now = readable()) {
    const auto byte = input::first_difference(tensor.bytes(), *now);
    return byte ? std::optional(*byte / element_bytes_) : std::nullopt;
  }
  std::optional<std::size_t> found;
  const auto compare = [&](std::size_t at, std::span<const std::byte> now) {
    if (found) return;
    const std::span<const std::byte> was = tensor.bytes().subspan(at, now.size());
    if (std::memcmp(was.data(), now.data(), now.size()) == 0) return;  // mostly, and often short
    if (const auto byte = input::first_difference(was, now)) found = (at + *byte) / element_bytes_;
  };
  if (!is_together()) {
    read_runs([&](std::int64_t first, std::span<std::byte> run, std::span<std::byte>) {
      compare(bytes_of(first), run);
    });
    return found;
  }
  std::vector<std::byte> block(std::min(block_bytes, spec_.bytes()));
  for (std::size_t at = 0; at < spec_.bytes() && !found; at += block.size()) {
    const auto now = std::span(block).first(std::min(block.size(), spec_.bytes() - at));
    buffer_.device().download(now.data(), data() + at, now.size());
    compare(at, now);
  }
  return found;
}

std::optional<std::string> GuardedTensor::damage() const {
  const auto is_damaged = [&](std::byte b) { return b != guard_; };
  const auto is_whole = [&](std::span<const std::byte> band) {
    return band.front() == guard_ && std::memcmp(&band[0], &band[1], band.size() - 1) == 0;
  };
  const std::size_t behind = front_bytes_ + spec_.span_bytes();
  std::span<const std::byte> front(buffer_.data(), front_bytes_);
  std::span<const std::byte> back(buffer_.data() + behind, back_bytes_);
  std::vector<std::byte> copy;
  if (!buffer_.device().is_readable_by_host()) {
    copy.resize(front_bytes_ + back_bytes_);
    const std::array bands{Piece{0, std::span(copy).first(front_bytes_)},
                           Piece{behind, std::span(copy).subspan(front_bytes_)}};
    buffer_.device().download_pieces(buffer_.data(), std::span(bands).first(is_fenced_ ? 1 : 2));
    front = bands[0].bytes;
    back = bands[1].bytes;
  }
  if (!is_whole(front)) {
    return fmt::format("{} bytes written before the start, from {} bytes away",
                       std::ranges::count_if(front, is_damaged),
                       front.end() - std::ranges::find_if(front, is_damaged));
  }
  if (!is_fenced_ && !is_whole(back)) {
    return fmt::format("{} bytes written past the end, from byte +{}",
                       std::ranges::count_if(back, is_damaged),
                       std::ranges::find_if(back, is_damaged) - back.begin());
  }
  if (is_together()) return std::nullopt;
  std::size_t wrong = 0;
  std::int64_t before = 0;
  std::size_t first_byte = 0;
  read_runs([&](std::int64_t first, std::span<std::byte>, std::span<std::byte> gap) {
    if (gap.empty() || is_whole(gap)) return;
    if (wrong == 0) {
      before = first / order_.run_elements();
      first_byte = static_cast<std::size_t>(std::ranges::find_if(gap, is_damaged) - gap.begin());
    }
    wrong += static_cast<std::size_t>(std::ranges::count_if(gap, is_damaged));
  });
  if (wrong == 0) return std::nullopt;
  const std::string_view unit = order_.run_elements() == spec_.row_elements() ? "row" : "element";
  return fmt::format("{0} bytes written between {1}s, from byte {2} of the gap behind {1} {3}",
                     wrong, unit, first_byte, before);
}

}  // namespace assay::input
