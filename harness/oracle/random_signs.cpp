#include "harness/oracle/random_signs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "harness/oracle/number.h"
#include "kernels/core/block_format.h"
#include "kernels/core/lines.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"

namespace assay::oracle {
namespace {

constexpr double multiple = 9;  // t

/// Sums of f64 products need more than its own precision: x86's long double has 11 bits more.
template <class T>
using Extended = std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <class In, class Out>
struct SignedProduct {
  using Real = Extended<Out>;
  std::int64_t m, n, k;
  std::span<const In> x, w;
  std::span<const Out> b, y;
  std::vector<Real> signs;

  static Real real(const auto& value) { return static_cast<Real>(widen(value)); }

  /// W^T s by blocks of columns, and the norm of each row of W.
  std::vector<Real> weighted() const {
    constexpr std::int64_t block = 256;
    std::vector<Real> sums(static_cast<std::size_t>(k));
    parallel_runs(k, block, n * k, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Real sign = signs[static_cast<std::size_t>(j)];
        const In* row = w.data() + j * k;
        for (std::int64_t c = first; c < first + count; ++c) {
          sums[static_cast<std::size_t>(c)] += real(row[c]) * sign;
        }
      }
    });
    return sums;
  }
  std::vector<double> norms() const {
    std::vector<double> all(static_cast<std::size_t>(n));
    parallel_runs(n, 1, n * k, [&](std::int64_t j, std::int64_t) {
      double squares = 0;
      for (std::int64_t c = 0; c < k; ++c) squares += square(widen(w[at(j * k + c)]));
      all[at(j)] = std::sqrt(squares);
    });
    return all;
  }

  RowResidual row(std::int64_t i, std::span<const Real> ws, std::span<const double> norms, Real bs,
                  const Tolerance& t) const {
    Real expected = bs;
    double squares = 0;
    double magnitude = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      const Real term = real(x[at(i * k + c)]) * ws[at(c)];
      expected += term;
      magnitude += std::abs(static_cast<double>(term));
      squares += square(widen(x[at(i * k + c)]));
    }
    const double norm = std::sqrt(squares);
    const Growth growth = t.probable.value_or(Growth{t.scale, t.relative});
    Real got = 0;
    double allowed_squares = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double value = widen(y[at(i * n + j)]);
      const double bias = b.empty() ? 0 : std::abs(widen(b[at(j)]));
      got += static_cast<Real>(value) * signs[at(j)];
      magnitude += std::abs(value) + bias;
      allowed_squares += square(growth.scale * (norm * norms[at(j)] + bias) +
                                growth.relative * std::abs(value) + t.absolute);
    }
    // Own roundings, as of a sum in any order.
    const double own =
        std::ldexp(static_cast<double>(n + k), std::is_same_v<Real, double> ? -53 : -64);
    return {i, std::abs(static_cast<double>(got - expected)),
            multiple * std::sqrt(allowed_squares) + own * magnitude};
  }

  RowResidual judge(const Tolerance& t) const {
    const std::vector<Real> ws = weighted();
    const std::vector<double> of_w = norms();
    Real bs = 0;
    for (std::int64_t j = 0; !b.empty() && j < n; ++j) bs += real(b[at(j)]) * signs[at(j)];
    std::vector<RowResidual> rows(static_cast<std::size_t>(m));
    parallel_runs(m, 1, m * k,
                  [&](std::int64_t i, std::int64_t) { rows[at(i)] = row(i, ws, of_w, bs, t); });
    return *std::ranges::max_element(rows, {}, [](const RowResidual& one) {
      if (!one.passed() && !std::isfinite(one.residual)) return double{INFINITY};
      return one.residual > 0 ? one.residual / one.allowed : 0.0;
    });
  }

  static double square(double value) { return value * value; }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

}  // namespace

bool has_random_signs(const OpInstance& op) {
  const ParamValue* act = op.params.find("act");
  return op.signature.is_product && is_floating(output_dtype(op)) &&
         is_floating(op.signature.inputs[0].dtype) && block_format(op.format) == nullptr &&
         (act == nullptr || op.params.word("act") == "none");
}

RowResidual random_signs(const reference::Problem& problem, const Tolerance& tolerance,
                         std::span<const std::byte> actual, std::uint64_t seed) {
  const OpInstance& op = problem.op;
  if (!has_random_signs(op) || actual.size() != op.signature.outputs[0].bytes()) {
    throw std::logic_error("random_signs: not the output of a product of floats");
  }
  return visit_computed(op.signature.inputs[0].dtype, [&]<class In>(std::type_identity<In>) {
    return visit_computed(output_dtype(op), [&]<class Out>(std::type_identity<Out>) -> RowResidual {
      constexpr bool is_one_dtype = std::is_same_v<In, Out> && !std::is_integral_v<In>;
      constexpr bool is_e4m3 = std::is_same_v<In, Float8E4M3> && std::is_same_v<Out, BFloat16>;
      if constexpr (!is_one_dtype && !is_e4m3) {
        throw std::logic_error("random_signs: no product has such dtypes");
      } else {
        const Shape& y = op.signature.outputs[0].shape;
        const TensorSpec& x = op.signature.inputs[0];
        std::vector<In> lines_of_x;
        std::vector<In> lines_of_w;
        SignedProduct<In, Out> product{
            .m = y.at(0),
            .n = y.at(1),
            .k = x.line_elements(),
            .x = first_lines(problem.input<In>(0), x, y.at(0), lines_of_x),
            .w = first_lines(problem.input<In>(1), op.signature.inputs[1], y.at(1), lines_of_w),
            .b = problem.ranks[0].size() > 2 ? problem.input<Out>(2) : std::span<const Out>{},
            .y = {reinterpret_cast<const Out*>(actual.data()),
                  static_cast<std::size_t>(op.signature.outputs[0].elements())},
            .signs = {}};
        product.signs.resize(static_cast<std::size_t>(product.n));
        for (std::size_t j = 0; j < product.signs.size(); ++j) {
          product.signs[j] = (random_bits(seed, 0, j) & 1U) != 0 ? -1 : 1;
        }
        return product.judge(tolerance);
      }
    });
  });
}

std::string random_signs_text() { return fmt::format("random_signs(t={})", multiple); }

}  // namespace assay::oracle
