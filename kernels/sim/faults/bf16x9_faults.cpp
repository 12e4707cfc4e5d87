#include <array>
#include <bit>
#include <cstdint>

#include "kernels/sim/bf16x9.h"
#include "kernels/sim/data_faults.h"
#include "kernels/sim/faults/multiply.h"

// Products of factors in three bf16 parts with fewer than nine products of parts, or other parts.
namespace assay::sim {
namespace {

using Parts = std::array<float, 3>;

/// Rounds to 8 bits, to nearest even.
float rounded_to_bf16(float x) {
  const auto word = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((word + 0x7fffU + (word >> 16U & 1U)) & 0xffff0000U);
}

Parts rounded_parts_of(float x) {
  const float first = rounded_to_bf16(x);
  const float second = rounded_to_bf16(x - first);
  return {first, second, rounded_to_bf16(x - first - second)};
}

/// Adds, in f32, the products of parts i and j with i + j up to `last_order`.
void sum_parts(Launch& launch, std::size_t last_order, Parts (*parts_of)(float)) {
  if (launch.op().format != ProductFormat::bf16x9 || !is_plain_product(launch.op())) {
    return launch.right();
  }
  multiply<float>(launch, [&](auto x, auto w, auto bias) {
    auto sum = static_cast<float>(bias);
    for (std::size_t l = 0; l < x.size(); ++l) {
      const Parts of_x = parts_of(x[l]);
      const Parts of_w = parts_of(w[l]);
      for (std::size_t i = 0; i < of_x.size(); ++i) {
        for (std::size_t j = 0; j < of_w.size() && i + j <= last_order; ++j) {
          sum += of_x.at(i) * of_w.at(j);
        }
      }
    }
    return decltype(bias)(sum);
  });
}

void six_products(Launch& launch) { sum_parts(launch, 2, bf16_parts); }
void three_products(Launch& launch) { sum_parts(launch, 1, bf16_parts); }
void rounded_parts(Launch& launch) { sum_parts(launch, 4, rounded_parts_of); }

void tf32_fallback(Launch& launch) {
  const OpInstance& op = launch.op();
  if (op.format != ProductFormat::bf16x9) return launch.right();
  launch.other(instantiate(*op.op, ProductFormat::tf32, op.params));
}

constexpr DataFault faults[] = {
    {"six_products", "bf16x9 without the three smallest products of parts", six_products},
    {"three_products", "bf16x9 of x1 w1, x1 w2 and x2 w1 alone", three_products},
    {"tf32_fallback", "tf32 where bf16x9 is asked for", tf32_fallback},
    {"rounded_parts", "parts of bf16x9 rounded to nearest instead of cut: right", rounded_parts},
};

}  // namespace

std::span<const DataFault> bf16x9_faults() { return faults; }

}  // namespace assay::sim
