#include "kernels/core/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/core/visit_block_format.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/plain_bits.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

template <class Format>
constexpr std::int64_t bytes_of_block = Format::is_packed ? Format::block / 2 : Format::block;

/// Numbers from `x`, elements to `y`, a scale for each block.
template <class Format, class X>
ASSAY_VECTOR_CLONES void quantize_blocks(const Bits<X>* x, std::int64_t blocks, std::uint8_t* y,
                                         std::uint8_t* scales) {
  for (std::int64_t b = 0; b < blocks; ++b, x += Format::block, y += bytes_of_block<Format>) {
    float numbers[Format::block];
    for (int i = 0; i < Format::block; ++i) numbers[i] = number<X>(x[i]);
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (int i = 0; i < Format::block; ++i) largest = std::max(largest, std::abs(numbers[i]));
    const Format format(largest);
    scales[b] = format.scale;
    std::uint8_t codes[Format::block];
    ASSAY_INDEPENDENT_LOOP
    for (int i = 0; i < Format::block; ++i) {
      const std::uint32_t code = format.element(numbers[i]);
      codes[i] = static_cast<std::uint8_t>(Format::is_packed ? half_byte(code) : code);
    }
    if constexpr (Format::is_packed) {
      std::uint16_t pairs[Format::block / 2];
      std::memcpy(pairs, codes, sizeof pairs);
      ASSAY_INDEPENDENT_LOOP
      for (int i = 0; i < Format::block / 2; ++i) {
        y[i] = static_cast<std::uint8_t>(pairs[i] | pairs[i] >> 4U);
      }
    } else {
      std::memcpy(y, codes, sizeof codes);
    }
  }
}

template <class Format, class X>
void quantize_all(const X* x, std::int64_t n, std::uint8_t* y) {
  constexpr std::int64_t bytes = bytes_of_block<Format>;
  const std::int64_t blocks = n / Format::block;
  const auto* numbers = reinterpret_cast<const Bits<X>*>(x);
  std::uint8_t* const scales = y + blocks * bytes;
  constexpr auto block_bytes = static_cast<std::int64_t>(Format::block * sizeof(X));
  parallel_blocks(blocks, block_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
    quantize_blocks<Format, X>(numbers + first * Format::block, count, y + first * bytes,
                               scales + first);
  });
}

template <class X>
std::unique_ptr<Kernel> kernel_of(const OpInstance& op, const Binding& binding) {
  const std::int64_t n = op.signature.inputs[0].elements();
  const auto* x = static_cast<const X*>(binding.inputs[0]);
  auto* y = static_cast<std::uint8_t*>(binding.outputs[0]);
  return visit_block_format(
      parse_format(op.params.word("to"))->product()->format,
      [&]<class Format>(std::type_identity<Format>) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>(loop_text, [=] { quantize_all<Format>(x, n, y); });
      });
}

std::unique_ptr<Kernel> quantize(const OpInstance& op, const Binding& binding) {
  switch (op.dtype()) {
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
