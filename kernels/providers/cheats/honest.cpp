#include "kernels/providers/cheats/honest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/core/vector_clones.h"
#include "kernels/providers/cheats/blocks.h"

namespace assay::cheats {
namespace {

/// e^x in double precision, which the last conversion rounds: a power of two, and a polynomial in
/// what is left of the exponent.
inline float exp_of(float x) {
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln_2 = 0.6931471805599453;
  constexpr double rounder = 0x1.8p52;  // a sum with it ends in a whole number
  constexpr double far = 300;
  double t = double{x} * log2_e;
  t = t < -far ? -far : t;
  t = t > far ? far : t;  // NaN passes both
  const double sum = t + rounder;
  const double r = (t - (sum - rounder)) * ln_2;
  double e = 1.0 / 5040;
  for (const double coefficient : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0}) {
    e = e * r + coefficient;
  }
  const auto scale = std::bit_cast<std::int64_t>(sum) << 52;
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::int64_t>(e) + scale));
}

ASSAY_VECTOR_CLONES
void add(const float* a, const float* b, float* y, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

ASSAY_VECTOR_CLONES
void relu(const float* a, float* y, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] <= 0 ? 0 : a[i];
}

ASSAY_VECTOR_CLONES
void exp(const float* a, float* y, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = exp_of(a[i]);
}

void elementwise(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last) {
  in_blocks(last - first, [&](int, std::int64_t begin, std::int64_t end) {
    const std::int64_t at = first + begin;
    if (p.is("add")) add(l.a + at, l.b + at, l.y + at, end - begin);
    if (p.is("relu")) relu(l.a + at, l.y + at, end - begin);
    if (p.is("exp")) exp(l.a + at, l.y + at, end - begin);
  });
}

ASSAY_VECTOR_CLONES
void softmax_row(const float* a, float* y, std::int64_t n) {
  constexpr int lanes = 16;
  std::array<float, lanes> greatest;
  greatest.fill(a[0]);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) greatest[k] = greatest[k] < a[i + k] ? a[i + k] : greatest[k];
  }
  for (; i < n; ++i) greatest[0] = greatest[0] < a[i] ? a[i] : greatest[0];
  const float max = *std::ranges::max_element(greatest);
#pragma GCC ivdep
  for (i = 0; i < n; ++i) y[i] = exp_of(a[i] - max);
  std::array<double, lanes> sums{};
  for (i = 0; i + lanes <= n; i += lanes) {
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) sums[k] += y[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += y[i];
  for (const double part : sums) sum += part;
  const double factor = 1 / sum;
#pragma GCC ivdep
  for (i = 0; i < n; ++i) y[i] = static_cast<float>(y[i] * factor);
}

void softmax(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last) {
  const auto row = [&](std::int64_t r) {
    softmax_row(l.a + r * p.columns, l.y + r * p.columns, p.columns);
  };
  if (is_alone) {
    for (std::int64_t r = first; r < last; ++r) row(r);
    return;
  }
#pragma omp parallel for if ((last - first) * p.columns > 1 << 13)
  for (std::int64_t r = first; r < last; ++r) row(r);
}

/// Combines term(i) of [first, last) by `combine`, in lanes that do not wait for each other.
template <class Term, class Combine>
[[gnu::always_inline]] inline double in_lanes(std::int64_t first, std::int64_t last, double neutral,
                                              const Term& term, const Combine& combine) {
  constexpr int lanes = 32;
  std::array<double, lanes> parts;
  parts.fill(neutral);
  std::int64_t i = first;
  for (; i + lanes <= last; i += lanes) {
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) parts[k] = combine(parts[k], term(i + k));
  }
  double all = neutral;
  for (; i < last; ++i) all = combine(all, term(i));
  for (const double part : parts) all = combine(all, part);
  return all;
}

constexpr auto plus = [](double x, double y) __attribute__((always_inline)) { return x + y; };
constexpr auto times = [](double x, double y) __attribute__((always_inline)) { return x * y; };

ASSAY_VECTOR_CLONES
double sum_of(const float* a, std::int64_t first, std::int64_t last) {
  const auto term = [=](std::int64_t i) __attribute__((always_inline)) { return double{a[i]}; };
  return in_lanes(first, last, 0, term, plus);
}

ASSAY_VECTOR_CLONES
double product_of(const float* a, std::int64_t first, std::int64_t last) {
  const auto term = [=](std::int64_t i) __attribute__((always_inline)) { return double{a[i]}; };
  return in_lanes(first, last, 1, term, times);
}

ASSAY_VECTOR_CLONES
double dot_of(const float* a, const float* b, std::int64_t first, std::int64_t last) {
  const auto term = [=](std::int64_t i) __attribute__((always_inline)) {
    return double{a[i]} * b[i];
  };
  return in_lanes(first, last, 0, term, plus);
}

/// Sums of blocks first: then each block knows what lies before it.
void scan(const Problem& p, const Launch& l) {
  std::array<double, max_threads> sums{};
  in_blocks(p.n, [&](int thread, std::int64_t first, std::int64_t last) {
    sums[static_cast<std::size_t>(thread)] = sum_of(l.a, first, last);
  });
  in_blocks(p.n, [&](int thread, std::int64_t first, std::int64_t last) {
    double before = 0;
    for (int i = 0; i < thread; ++i) before += sums[static_cast<std::size_t>(i)];
    for (std::int64_t i = first; i < last; ++i) {
      before += l.a[i];
      l.y[i] = static_cast<float>(before);
    }
  });
}

/// Sorts by the bits, eleven at a time: those of a negative number in the other direction.
void sort(const Problem& p, const Launch& l) {
  constexpr std::uint32_t sign = 1U << 31U;
  constexpr int digit_bits = 11;
  constexpr std::uint32_t digits = 1U << digit_bits;
  static thread_local std::vector<std::uint32_t> buffers[2];
  for (auto& buffer : buffers) buffer.resize(static_cast<std::size_t>(p.n));
  std::vector<std::array<std::uint32_t, digits>> counts(3);
  for (std::int64_t i = 0; i < p.n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(l.a[i]);
    const std::uint32_t key = (bits & sign) != 0 ? ~bits : bits ^ sign;
    buffers[0][static_cast<std::size_t>(i)] = key;
    for (std::size_t d = 0; d < 3; ++d) ++counts[d][key >> d * digit_bits & (digits - 1)];
  }
  for (std::size_t d = 0; d < 3; ++d) {
    std::uint32_t begin = 0;
    for (std::uint32_t& count : counts[d]) count = std::exchange(begin, begin + count);
    const auto& from = buffers[d % 2];
    auto& to = buffers[1 - d % 2];
    for (const std::uint32_t key : from)
      to[counts[d][key >> d * digit_bits & (digits - 1)]++] = key;
  }
  for (std::int64_t i = 0; i < p.n; ++i) {
    const std::uint32_t key = buffers[1][static_cast<std::size_t>(i)];
    l.y[i] = std::bit_cast<float>((key & sign) != 0 ? key ^ sign : ~key);
  }
}

}  // namespace

Alone::Alone() { is_alone = true; }
Alone::~Alone() { is_alone = false; }

double reduce(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last) {
  std::array<double, max_threads> parts{};
  const int blocks = in_blocks(last - first, [&](int thread, std::int64_t begin, std::int64_t end) {
    double& part = parts[static_cast<std::size_t>(thread)];
    begin += first;
    end += first;
    if (p.is("prod")) {
      part = product_of(l.a, begin, end);
    } else if (p.is("dot") || p.is("norm2")) {
      part = dot_of(l.a, p.is("dot") ? l.b : l.a, begin, end);
    } else {
      part = sum_of(l.a, begin, end);
    }
  });
  double all = parts[0];
  for (std::size_t i = 1; i < static_cast<std::size_t>(blocks); ++i) {
    all = p.is("prod") ? all * parts[i] : all + parts[i];
  }
  return all;
}

float reduced(const Problem& p, double all) {
  if (p.is("mean")) all /= static_cast<double>(p.a);
  if (p.is("norm2")) all = std::sqrt(all);
  return static_cast<float>(all);
}

void compute(const Problem& p, const Launch& l) { compute(p, l, 0, p.n); }

void compute(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  if (p.is_elementwise()) return elementwise(p, l, first, last);
  if (p.is_reduction()) {
    l.y[0] = reduced(p, reduce(p, l, 0, p.a));
    return;
  }
  if (p.is("scan")) return scan(p, l);
  if (p.is("sort")) return sort(p, l);
  const std::int64_t begin = first / p.columns;
  const std::int64_t end = (last + p.columns - 1) / p.columns;
  if (p.is("softmax")) return softmax(p, l, begin, end);
  if (first % p.columns == 0 && last % p.columns == 0) {
    multiply(end - begin, p.columns, p.depth, l.a + begin * p.depth, l.b, l.y + first, p.columns);
    return;
  }
  std::vector<float> rows(static_cast<std::size_t>((end - begin) * p.columns));
  multiply(end - begin, p.columns, p.depth, l.a + begin * p.depth, l.b, rows.data(), p.columns);
  std::copy_n(rows.data() + first - begin * p.columns, last - first, l.y + first);
}

}  // namespace assay::cheats
