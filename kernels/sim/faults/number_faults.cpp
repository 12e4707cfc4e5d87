#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/sim/data_faults.h"
#include "kernels/sim/faults/multiply.h"
#include "kernels/sim/faults/rows.h"

// Right on plain data, wrong for numbers of some size or kind, or at some place, as kernels that
// others published (docs/published-bugs.md).
namespace assay::sim {
namespace {

bool is_op(const Launch& launch, std::string_view name, DType dtype = DType::f32) {
  return launch.op().op->name == name && launch.op().format == dtype;
}

/// Runs the op with each element of an input replaced by f(element, index).
template <class T, class F>
void with_changed(Launch& launch, std::size_t input, const F& f) {
  std::vector<std::byte> bytes = launch.copy_of_input(input);
  auto* elements = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) elements[i] = f(elements[i], i);
  launch.with_input(input, bytes);
}

float of_16_bits(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffff00U);
}

void tail_missed(Launch& launch) {
  const bool is_extreme =
      is_op(launch, "reduce_max") || is_op(launch, "reduce_min") || is_op(launch, "argmax");
  const std::size_t n = launch.input<float>(0).size();
  if (!is_extreme || n % 2 == 0) return launch.right();
  const float first = launch.input<float>(0)[0];
  with_changed<float>(launch, 0, [&](float x, std::size_t i) { return i + 1 == n ? first : x; });
}

void finite_start(Launch& launch) {
  launch.right();
  if (!is_op(launch, "reduce_max") && !is_op(launch, "reduce_min")) return;
  constexpr float most = std::numeric_limits<float>::max();
  float& y = launch.output<float>()[0];
  if (std::isinf(y)) y = std::copysign(most, y);
}

void keys_clamped(Launch& launch) {
  if (!is_op(launch, "sort")) return launch.right();
  with_changed<float>(launch, 0, [](float x, std::size_t) {
    return std::isnan(x) ? x : std::clamp(x, -100.0F, 100.0F);
  });
}

void nan_first(Launch& launch) {
  launch.right();
  if (!is_op(launch, "sort")) return;
  const auto y = launch.output<float>();
  const auto first = std::ranges::find_if(y, [](float x) { return std::isnan(x); });
  std::rotate(y.begin(), first, y.end());
}

void negative_bases(Launch& launch) {
  if (!is_op(launch, "pow")) return launch.right();
  with_changed<float>(launch, 0, [](float x, std::size_t) {
    return x < 0 ? std::numeric_limits<float>::quiet_NaN() : x;
  });
}

void flat_logarithm(Launch& launch) {
  if (!is_op(launch, "log", DType::f64)) return launch.right();
  with_changed<double>(launch, 0,
                       [](double x, std::size_t) { return std::abs(x - 1) < 1e-8 ? 1 : x; });
}

void one_is_true(Launch& launch) {
  if (!is_op(launch, "where")) return launch.right();
  with_changed<std::uint8_t>(launch, 0, [](std::uint8_t mask, std::size_t) {
    return static_cast<std::uint8_t>(mask == 1 ? 1 : 0);
  });
}

void index_of_15_bits(Launch& launch) {
  if (!is_op(launch, "gather")) return launch.right();
  with_changed<std::int64_t>(launch, 1, [](std::int64_t row, std::size_t) { return row & 0x7fff; });
}

void narrow_terms(Launch& launch) {
  const bool is_sum = is_op(launch, "sum") || is_op(launch, "mean") || is_op(launch, "dot");
  if (!is_sum) return launch.right();
  with_changed<float>(launch, 0, [](float x, std::size_t) { return of_16_bits(x); });
}

void plain_squares(Launch& launch) {
  if (!is_op(launch, "norm2")) return launch.right();
  double sum = 0;
  for (const float x : launch.input<float>(0)) sum += double{x * x};
  launch.output<float>()[0] = static_cast<float>(std::sqrt(sum));
}

/// Softmax by exponentials of `rounded`, with a maximum that begins at `least`.
template <class Rounded>
void softmax_by(Launch& launch, float least, const Rounded& rounded) {
  if (!is_op(launch, "softmax")) return launch.right();
  for_rows(launch, [&](auto x, auto y) {
    float most = least;
    for (const float element : x) most = std::isnan(element) ? element : std::max(most, element);
    double sum = 0;
    for (const float element : x) sum += rounded(std::exp(double{element} - double{most}));
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<float>(rounded(std::exp(double{x[i]} - double{most})) / sum);
    }
  });
}

void low_maximum(Launch& launch) {
  softmax_by(launch, -5e4F, [](double e) { return e; });
}

void narrow_exponentials(Launch& launch) {
  softmax_by(launch, -std::numeric_limits<float>::infinity(),
             [](double e) { return double{of_16_bits(static_cast<float>(e))}; });
}

void other_epsilon(Launch& launch) {
  if (!is_op(launch, "layernorm")) return launch.right();
  for_rows(launch, [&](auto x, auto y) {
    const auto n = static_cast<double>(x.size());
    double mean = 0;
    for (const float element : x) mean += double{element} / n;
    double variance = 0;
    for (const float element : x) variance += std::pow(double{element} - mean, 2) / n;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double normal = (double{x[i]} - mean) / std::sqrt(variance + 1e-6);
      y[i] = static_cast<float>(normal * double{launch.input<float>(1)[i]} +
                                double{launch.input<float>(2)[i]});
    }
  });
}

void integers_through_f32(Launch& launch) {
  if (launch.op().format != DType::i8 || !launch.op().signature.is_product) return launch.right();
  multiply<std::int8_t>(launch, [](auto x, auto w, auto bias) {
    float sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<float>(int{x[i]} * int{w[i]});
    if constexpr (std::is_integral_v<decltype(bias)>) {
      return static_cast<decltype(bias)>(static_cast<std::int64_t>(sum) + std::int64_t{bias});
    } else {
      return decltype(bias){};
    }
  });
}

constexpr DataFault faults[] = {
    {"tail_missed", "an extreme of odd size without its last element", tail_missed},
    {"finite_start", "an extreme that begins at the largest finite number", finite_start},
    {"keys_clamped", "a sort that clamps its keys to 100", keys_clamped},
    {"nan_first", "a sort that puts NaN first", nan_first},
    {"negative_bases", "powers of negative numbers are NaN", negative_bases},
    {"flat_logarithm", "log of f64 is 0 within 1e-8 of 1", flat_logarithm},
    {"one_is_true", "masks of other bytes than 1 are false", one_is_true},
    {"index_of_15_bits", "rows from 32768 on are taken from the first ones", index_of_15_bits},
    {"narrow_terms", "terms of sums cut to 16 bits", narrow_terms},
    {"plain_squares", "a norm whose squares overflow", plain_squares},
    {"low_maximum", "a softmax whose maximum begins at -50000", low_maximum},
    {"narrow_exponentials", "a softmax by exponentials of 16 bits", narrow_exponentials},
    {"other_epsilon", "a layernorm that adds 1e-6", other_epsilon},
    {"integers_through_f32", "int8 products summed in f32", integers_through_f32},
};

}  // namespace

std::span<const DataFault> number_faults() { return faults; }

}  // namespace assay::sim
