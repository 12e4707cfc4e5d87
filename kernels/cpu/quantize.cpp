#include "kernels/core/quantize.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/plain_bits.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// One block: its numbers from `x`, its elements to `y`. Returns the scale.
template <class Format, class X>
ASSAY_VECTOR_CLONES std::uint8_t quantize_block(const Bits<X>* x, std::uint8_t* y) {
  float numbers[Format::block];
  for (int i = 0; i < Format::block; ++i) numbers[i] = number<X>(x[i]);
  float largest = 0;
#pragma omp simd reduction(max : largest)
  for (int i = 0; i < Format::block; ++i) largest = std::max(largest, std::abs(numbers[i]));
  const Format format(largest);
  std::uint32_t codes[Format::block];
  ASSAY_INDEPENDENT_LOOP
  for (int i = 0; i < Format::block; ++i) codes[i] = format.element(numbers[i]);
  if constexpr (Format::is_packed) {
    for (int i = 0; i < Format::block / 2; ++i) {
      y[i] = static_cast<std::uint8_t>(half_byte(codes[2 * i]) | half_byte(codes[2 * i + 1]) << 4U);
    }
  } else {
    for (int i = 0; i < Format::block; ++i) y[i] = static_cast<std::uint8_t>(codes[i]);
  }
  return format.scale;
}

template <class Format, class X>
void quantize_all(const X* x, std::int64_t n, std::uint8_t* y) {
  constexpr std::int64_t bytes = Format::is_packed ? Format::block / 2 : Format::block;
  const std::int64_t blocks = n / Format::block;
  const auto* numbers = reinterpret_cast<const Bits<X>*>(x);
  std::uint8_t* const scales = y + blocks * bytes;
  constexpr auto block_bytes = static_cast<std::int64_t>(Format::block * sizeof(X));
  parallel_blocks(blocks, block_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t b = first; b < first + count; ++b) {
      scales[b] = quantize_block<Format, X>(numbers + b * Format::block, y + b * bytes);
    }
  });
}

template <class X>
std::unique_ptr<Kernel> kernel_of(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.signature.inputs[0].elements();
  const auto* x = static_cast<const X*>(binding.inputs[0]);
  auto* y = static_cast<std::uint8_t*>(binding.outputs[0]);
  return visit_block_format(
      *parse_dtype(op.params.word("to")),
      [&]<class Format>(std::type_identity<Format>) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>(loop_text, [=] { quantize_all<Format>(x, n, y); });
      });
}

std::unique_ptr<Kernel> quantize(const OpInstance& op, const Binding& binding) {
  switch (op.dtype) {
    case DType::f32:
      return kernel_of<float>(op, binding);
    case DType::bf16:
      return kernel_of<BFloat16>(op, binding);
    default:
      return kernel_of<Float16>(op, binding);
  }
}

constexpr KernelRow rows[] = {
    {"quantize", quantize},
};

}  // namespace

std::span<const KernelRow> quantize_kernels() { return rows; }

}  // namespace assay::cpu
