#include <algorithm>
#include <cmath>

#include "kernels/core/worth_a_fork.h"
#include "kernels/reference/block_values.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

// Block-scaled formats by the rules of docs/block-scaled.md, in double.
namespace assay::reference {
namespace {

struct Layout {
  Format to;
  std::size_t block;
  std::size_t elements_per_byte;
  std::size_t element_bytes;  // of the whole tensor: the scales follow

  explicit Layout(const OpInstance& op)
      : to(*parse_format(op.params.word("to"))),
        block(to == ProductFormat::nvfp4 ? 16 : 32),
        elements_per_byte(to == ProductFormat::mxfp8 ? 1 : 2),
        element_bytes(static_cast<std::size_t>(op.signature.inputs[0].elements()) /
                      elements_per_byte) {}
};

std::uint8_t scale_code(Format to, double largest) {
  if (to == ProductFormat::nvfp4) {
    return nearest_float8<Float8E4M3>(static_cast<long double>(largest) / 6).bits;
  }
  if (largest == 0) return 0;
  const int max_element_exponent = to == ProductFormat::mxfp8 ? 8 : 2;
  return static_cast<std::uint8_t>(std::max(0, std::ilogb(largest) - max_element_exponent + 127));
}

/// Nearest magnitude of E2M1; of two equally near ones, that with the even code.
std::uint8_t nearest_e2m1(double x) {
  const double magnitude = std::min(std::abs(x), 8.0);  // saturates from 6 on
  unsigned best = 0;
  for (unsigned code = 1; code < 8; ++code) {
    const double here = std::abs(magnitude - e2m1_value(code));
    const double there = std::abs(magnitude - e2m1_value(best));
    if (here < there || (here == there && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(best + (std::signbit(x) ? 8 : 0));
}

std::uint8_t element_code(Format to, double x, std::uint8_t scale) {
  // A double tells a quotient in the middle between two elements: scale times middle is a float.
  const double by = to == ProductFormat::nvfp4 ? e4m3_value(scale) : e8m0_value(scale);
  const double quotient = by == 0 ? std::copysign(0.0, x) : x / by;
  return to == ProductFormat::mxfp8 ? nearest_float8<Float8E4M3>(quotient).bits
                                    : nearest_e2m1(quotient);
}

/// The code of each block's scale.
template <class X>
State solve_scales(const Problem& p) {
  const Layout layout(p.op);
  const auto x = p.input<X>(0);
  State scales(x.size() / layout.block);
#pragma omp parallel for schedule(static) if (std::ssize(x) > worth_a_fork())
  for (std::size_t b = 0; b < scales.size(); ++b) {
    double largest = 0;
    for (std::size_t i = 0; i < layout.block; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(wide(x[b * layout.block + i]))));
    }
    scales[b] = scale_code(layout.to, largest);
  }
  return scales;
}

template <class X>
void bytes(const Problem& p, std::span<const double> scales, std::int64_t first,
           std::span<std::byte> out) {
  const Layout layout(p.op);
  const auto x = p.input<X>(0);
  const auto element = [&](std::size_t i) {
    return element_code(layout.to, wide(x[i]), static_cast<std::uint8_t>(scales[i / layout.block]));
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    unsigned byte = 0;
    if (at >= layout.element_bytes) {
      byte = static_cast<unsigned>(scales[at - layout.element_bytes]);
    } else if (layout.elements_per_byte == 1) {
      byte = element(at);
    } else {
      byte = element(2 * at) + 16U * element(2 * at + 1);
    }
    out[i] = static_cast<std::byte>(byte);
  }
}

Reference quantize(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class X>(std::type_identity<X>) {
    return Reference{.solve = solve_scales<X>, .bits = bytes<X>};
  });
}

constexpr ReferenceRow rows[] = {
    {"quantize", quantize},
};

}  // namespace

std::span<const ReferenceRow> quantize_references() { return rows; }

}  // namespace assay::reference
