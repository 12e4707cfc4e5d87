#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sim/bf16x9.h"
#include "kernels/sim/data_faults.h"
#include "kernels/sim/faults/multiply.h"
#include "kernels/sim/narrow_matmul.h"

// Products computed like matrix units do, not by IEEE arithmetic. Declared, this is no fault.
namespace assay::sim {
namespace {

/// Mode as published for GPUs (kernels/cuda/matmul_plan.h), with larger steps.
MathMode mode_of(const OpInstance& op) {
  const bool is_float8 = op.format == DType::e4m3;
  return {.accumulator_bits = is_float8 ? 14 : 24,
          .rounding = MathMode::Rounding::truncation,
          .step = is_float8 ? 32 : 16};
}

/// Truncates x below the first `bits` bits of a number of magnitude `largest`.
double cut(double x, double largest, int bits) {
  const double unit = std::ldexp(1.0, std::ilogb(largest) - bits + 1);
  return std::trunc(x / unit) * unit;
}

/// Adds one step's products to a sum. All are truncated to three bits more than the sum keeps,
/// because they are shifted to the exponent of the largest.
double after_step(double sum, std::span<const double> products, int bits) {
  constexpr int further_bits = 3;
  double largest = std::abs(sum);
  double plain = sum;
  for (const double product : products) {
    largest = std::max(largest, std::abs(product));
    plain += product;
  }
  if (!std::isfinite(plain) || largest == 0) return plain;
  double total = cut(sum, largest, bits + further_bits);
  for (const double product : products) total += cut(product, largest, bits + further_bits);
  return total == 0 ? total : cut(total, total, bits);
}

/// Appends the products of one term: those of parts, or one.
template <class T>
void append_products(T x, T w, Format format, std::vector<double>& products) {
  const auto a = static_cast<float>(x);
  const auto b = static_cast<float>(w);
  if (!splits_factors(format)) {
    const auto factor = [&](float f) -> double {
      return format == ProductFormat::tf32 ? to_tf32(f) : f;
    };
    return products.push_back(factor(a) * factor(b));
  }
  const auto of_a = bf16_parts(a);
  const auto of_b = bf16_parts(b);
  for (std::size_t p = 0; p < static_cast<std::size_t>(format.product()->parts); ++p) {
    products.push_back(double{of_a.at(parts_of_x.at(p))} * of_b.at(parts_of_w.at(p)));
  }
}

/// Truncates sums, in steps of many products.
void truncating_sums(Launch& launch) {
  const OpInstance& op = launch.op();
  if (!is_plain_product(op)) return launch.right();
  const MathMode mode = mode_of(op);
  for_products_in_f32(launch, [&]<class T>(std::type_identity<T>) {
    multiply<T>(launch, [&](auto x, auto w, auto bias) {
      const auto step = static_cast<std::size_t>(mode.step);
      std::vector<double> products;
      for (std::size_t i = 0; i < x.size(); ++i) append_products(x[i], w[i], op.format, products);
      double sum = 0;
      for (std::size_t first = 0; first < products.size(); first += step) {
        const std::size_t count = std::min(step, products.size() - first);
        sum = after_step(sum, std::span(products).subspan(first, count), mode.accumulator_bits);
      }
      return decltype(bias)(static_cast<float>(sum) + static_cast<float>(bias));
    });
  });
}

/// Leaves tf32 unused, as libraries may.
void f32_factors(Launch& launch) {
  const OpInstance& op = launch.op();
  if (op.format != ProductFormat::tf32) return launch.right();
  launch.other(instantiate(*op.op, DType::f32, op.params));
}

constexpr DataFault faults[] = {
    {"truncating_sums", "sums truncated, in steps of many products", truncating_sums},
    {"declared_sums", "the same, as the kernel says", truncating_sums, mode_of},
    {"f32_factors", "all bits of factors used where tf32 is asked for", f32_factors},
};

}  // namespace

std::span<const DataFault> matrix_unit_faults() { return faults; }

}  // namespace assay::sim
