#include "harness/oracle/freivalds.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "harness/oracle/element_result.h"
#include "harness/oracle/tolerance.h"
#include "kernels/core/lines.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"

namespace assay::oracle {
namespace {

constexpr std::int64_t located_rows = 16;

/// Residue modulo 2^64: sums may wrap.
using Residue = std::uint64_t;

/// Numbers as multiples of a power of two, 2^exponent. Integers are those of 1.
template <class T>
struct Multiples {
  int exponent = 0;
  double inverse = 1;  // 2^-exponent
  double most = 0x1p53;

  explicit Multiples(int of, double up_to = 0x1p53)
      : exponent(of), inverse(std::ldexp(1.0, -of)), most(up_to) {}

  /// True for integers, and for floats that are up to `most` units.
  bool hold(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return true;
    } else {
      const double units = widen(value) * inverse;
      return std::abs(units) <= most && std::trunc(units) == units;  // NaN is neither
    }
  }
  Residue residue(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Residue>(static_cast<std::int64_t>(value));
    } else {
      return static_cast<Residue>(static_cast<std::int64_t>(widen(value) * inverse));
    }
  }
  bool hold_all(std::span<const T> elements) const {
    std::atomic<bool> all = true;
    parallel_runs(std::ssize(elements), 1 << 16, [&](std::int64_t first, std::int64_t count) {
      bool run = true;
      for (std::int64_t i = first; i < first + count; ++i) {
        run &= hold(elements[static_cast<std::size_t>(i)]);
      }
      if (!run) all = false;
    });
    return all;
  }
  Residue dot(std::span<const T> row, std::span<const Residue> weights) const {
    Residue sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += residue(row[i]) * weights[i];
    return sum;
  }
};

/// The largest exponent of which all elements are multiples; 0 if they are integers, none, or no
/// numbers.
template <class T>
int common_exponent(std::span<const T> elements) {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    constexpr int none = 2000;
    std::atomic<int> common = none;
    parallel_runs(std::ssize(elements), 1 << 16, [&](std::int64_t first, std::int64_t count) {
      int least = none;
      for (std::int64_t i = first; i < first + count; ++i) {
        const double x = widen(elements[static_cast<std::size_t>(i)]);
        if (x == 0 || !std::isfinite(x)) continue;
        int exponent = 0;
        const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
        const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
        least = std::min(least, exponent - 53 + zeros);
      }
      for (int seen = common; least < seen && !common.compare_exchange_weak(seen, least);) {
      }
    });
    return common == none ? 0 : common.load();
  }
}

template <class T>
std::span<const T> row_of(std::span<const T> matrix, std::int64_t row, std::int64_t cols) {
  return matrix.subspan(static_cast<std::size_t>(row * cols), static_cast<std::size_t>(cols));
}

/// Largest factor in units: exact data have few bits, and others are no data for this rule.
constexpr double max_factor = 0x1p30;

/// y = x W^T + b with x of {m, k}, W of {n, k} and b of {n} or empty; `In` is the dtype of the
/// factors, `Out` that of y and b.
template <class In, class Out>
struct Product {
  std::int64_t m, n, k;
  std::span<const In> x, w;
  std::span<const Out> b, y;
  // What the data are multiples of; a bias and y are so of the product of those of x and w.
  Multiples<In> of_x{0}, of_w{0};
  Multiples<Out> of_y{0};

  /// Finds them.
  void measure() {
    of_x = Multiples<In>(common_exponent(x), max_factor);
    of_w = Multiples<In>(common_exponent(w), max_factor);
    of_y = Multiples<Out>(of_x.exponent + of_w.exponent);
    if (b.empty()) return;
    const int of_bias = common_exponent(b);
    if (of_bias >= of_y.exponent) return;
    of_y = Multiples<Out>(of_bias);
    of_w = Multiples<In>(of_bias - of_x.exponent, max_factor);
  }

  /// W^T r, by blocks of columns.
  std::vector<Residue> weighted(std::span<const Residue> r) const {
    constexpr std::int64_t block = 512;
    std::vector<Residue> sums(static_cast<std::size_t>(k));
    parallel_runs(k, block, n * k, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Residue weight = r[static_cast<std::size_t>(j)];
        const In* row = w.data() + j * k;
        for (std::int64_t c = first; c < first + count; ++c) {
          sums[static_cast<std::size_t>(c)] += of_w.residue(row[c]) * weight;
        }
      }
    });
    return sums;
  }

  bool row_agrees(std::int64_t i, std::span<const Residue> r, std::span<const Residue> wr,
                  Residue br) const {
    const auto got = row_of(y, i, n);
    bool whole = true;
    for (const Out value : got) whole &= of_y.hold(value);
    return whole && of_y.dot(got, r) == of_x.dot(row_of(x, i, k), wr) + br;
  }

  /// Computes row i and notes its wrong elements.
  void locate(Verdict& verdict, std::int64_t i) const {
    std::vector<Residue> weights(static_cast<std::size_t>(k));
    for (std::int64_t j = 0; j < n; ++j) {
      const Residue bias = b.empty() ? 0 : of_y.residue(b[static_cast<std::size_t>(j)]);
      std::ranges::transform(row_of(w, j, k), weights.begin(),
                             [&](In element) { return of_w.residue(element); });
      const auto sum = static_cast<std::int64_t>(of_x.dot(row_of(x, i, k), weights) + bias);
      Out expected = static_cast<Out>(sum);
      if constexpr (!std::is_integral_v<Out>) {
        expected = static_cast<Out>(std::ldexp(static_cast<double>(sum), of_y.exponent));
      }
      const Out got = y[static_cast<std::size_t>(i * n + j)];
      if (!(got == expected)) note_wrong(verdict, i * n + j, 0, expected, got);
    }
  }

  Verdict judge(DType dtype) const {
    if (!of_x.hold_all(x) || !of_w.hold_all(w) || !of_y.hold_all(b)) {
      throw std::logic_error("freivalds: the inputs are not whole numbers times a power of two");
    }
    // A kernel that knew the weights could let the errors of a row cancel.
    static const std::uint64_t seed = [] {
      std::random_device random;
      return std::uint64_t{random()} << 32U | random();
    }();
    std::vector<Residue> r(static_cast<std::size_t>(n));
    for (std::size_t j = 0; j < r.size(); ++j) r[j] = 1 + random_bits(seed, 0, j) % 0x10000;
    const std::vector<Residue> wr = weighted(r);
    const Residue br = b.empty() ? 0 : of_y.dot(b, r);

    std::vector<char> agrees(static_cast<std::size_t>(m));
    parallel_runs(m, 1, m * k, [&](std::int64_t i, std::int64_t) {
      agrees[static_cast<std::size_t>(i)] = row_agrees(i, r, wr, br) ? 1 : 0;
    });
    Verdict verdict;
    verdict.dtype = dtype;
    verdict.elements = m * n;
    std::int64_t wrong_rows = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      if (agrees[static_cast<std::size_t>(i)] != 0) continue;
      if (++wrong_rows > located_rows) {
        ++verdict.mismatches;
        continue;
      }
      const std::int64_t before = verdict.mismatches;
      locate(verdict, i);
      if (verdict.mismatches == before) {
        throw std::logic_error("freivalds: a row fails as a whole and not in any element");
      }
    }
    return verdict;
  }
};

template <class In, class Out>
Verdict judge(const reference::Problem& problem, std::span<const std::byte> actual) {
  const OpInstance& op = problem.op;
  const Shape& y = op.signature.outputs[0].shape;
  const auto elements = static_cast<std::size_t>(op.signature.outputs[0].elements());
  const bool has_bias = problem.ranks[0].size() > 2;
  const TensorSpec& x = op.signature.inputs[0];
  std::vector<In> lines_of_x;
  std::vector<In> lines_of_w;
  Product<In, Out> product{
      .m = y.at(0),
      .n = y.at(1),
      .k = x.line_elements(),
      .x = first_lines(problem.input<In>(0), x, y.at(0), lines_of_x),
      .w = first_lines(problem.input<In>(1), op.signature.inputs[1], y.at(1), lines_of_w),
      .b = has_bias ? problem.input<Out>(2) : std::span<const Out>{},
      .y = {reinterpret_cast<const Out*>(actual.data()), elements},
  };
  product.measure();
  return product.judge(output_dtype(op));
}

}  // namespace

Verdict freivalds(const reference::Problem& problem, std::span<const std::byte> actual) {
  const OpInstance& op = problem.op;
  if (!op.signature.is_product || actual.size() != op.signature.outputs[0].bytes()) {
    throw std::logic_error("freivalds: not the output of a product");
  }
  return visit_computed(op.dtype(), [&]<class In>(std::type_identity<In>) -> Verdict {
    if constexpr (std::is_same_v<In, std::int8_t>) {
      return judge<In, std::int32_t>(problem, actual);
    } else if constexpr (std::is_same_v<In, float> || std::is_same_v<In, double>) {
      return judge<In, In>(problem, actual);
    } else {
      throw std::logic_error("freivalds: the output of this dtype is rounded");
    }
  });
}

Tolerance freivalds() { return {.exact = true, .description = "freivalds(2^-16)"}; }

}  // namespace assay::oracle
