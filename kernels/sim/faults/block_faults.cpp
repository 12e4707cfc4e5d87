#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/ops/block_input.h"
#include "kernels/sim/data_faults.h"

// Block-scaled factors read wrongly: the right kernel on changed bytes of W.
namespace assay::sim {
namespace {

/// Runs the op with the elements, or the scales, of W changed by f(bytes, format).
template <class F>
void with_changed_w(Launch& launch, bool scales, const F& f) {
  const OpInstance& op = launch.op();
  const BlockFormat* format = block_format(op.format);
  if (format == nullptr) return launch.right();
  const std::size_t input = scales ? op.signature.inputs.size() - 1 : 1;
  std::vector<std::byte> bytes = launch.copy_of_input(input);
  f(std::span(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()), *format);
  launch.with_input(input, bytes);
}

void neighbour_scale(Launch& launch) {
  const auto scales_of_row =
      static_cast<std::ptrdiff_t>(launch.op().signature.inputs.back().shape.back());
  with_changed_w(launch, true, [&](std::span<std::uint8_t> scales, const BlockFormat&) {
    for (auto row = scales.begin(); row < scales.end(); row += scales_of_row) {
      std::rotate(row, row + std::min<std::ptrdiff_t>(1, scales_of_row - 1), row + scales_of_row);
    }
  });
}

void scale_ignored(Launch& launch) {
  with_changed_w(launch, true, [](std::span<std::uint8_t> scales, const BlockFormat& format) {
    scales.front() = block_scale_code(format, 0);
  });
}

void halves_swapped(Launch& launch) {
  if (const BlockFormat* format = block_format(launch.op().format);
      format != nullptr && format->elements_per_byte == 1) {
    return launch.right();
  }
  with_changed_w(launch, false, [](std::span<std::uint8_t> elements, const BlockFormat&) {
    for (std::uint8_t& byte : elements) byte = static_cast<std::uint8_t>(byte << 4U | byte >> 4U);
  });
}

/// Reads E4M3 as a biased exponent. Results of the other format leave its range, and saturate.
void scale_format(Launch& launch) {
  with_changed_w(launch, true, [](std::span<std::uint8_t> scales, const BlockFormat& format) {
    if (!format.has_e4m3_scales) return;
    for (std::uint8_t& scale : scales) {
      scale = block_scale_code(format, std::clamp(scale - 127, -9, 8));
    }
  });
}

/// Leaves scales that are one code too large behind right elements.
void scale_off_by_one(Launch& launch) {
  launch.right();
  if (launch.op().op->name != "quantize") return;
  const BlockFormat& format = *block_format(*parse_format(launch.op().params.word("to")));
  const std::int64_t scales = format.scale_bytes(launch.op().signature.inputs[0].elements());
  for (std::uint8_t& scale : launch.output<std::uint8_t>().last(static_cast<std::size_t>(scales))) {
    ++scale;
  }
}

constexpr DataFault faults[] = {
    {"neighbour_scale", "blocks of W scaled by the next block's scale", neighbour_scale},
    {"scale_ignored", "the first block of W not scaled", scale_ignored},
    {"halves_swapped", "the two elements of each byte of W exchanged", halves_swapped},
    {"scale_format", "E4M3 scales of W read as E8M0", scale_format},
    {"scale_off_by_one", "scales of quantized blocks one code too large", scale_off_by_one},
};

}  // namespace

std::span<const DataFault> block_faults() { return faults; }

}  // namespace assay::sim
