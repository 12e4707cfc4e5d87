#include "harness/oracle/freivalds.h"

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "harness/oracle/element_result.h"
#include "harness/oracle/tolerance.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"

namespace assay::oracle {
namespace {

constexpr std::int64_t located_rows = 16;

/// Residue modulo 2^64: sums may wrap.
using Residue = std::uint64_t;

/// True for integers and for whole floats up to 2^53.
template <class T>
bool is_whole(T value) {
  if constexpr (std::is_integral_v<T>) {
    return true;
  } else {
    const double wide = widen(value);
    return std::abs(wide) <= 0x1p53 && std::trunc(wide) == wide;  // NaN is neither
  }
}

template <class T>
Residue residue(T value) {
  return static_cast<Residue>(static_cast<std::int64_t>(value));
}

template <class T, class W>
Residue dot(std::span<const T> row, std::span<const W> weights) {
  Residue sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) sum += residue(row[i]) * residue(weights[i]);
  return sum;
}

template <class T>
bool all_whole(std::span<const T> elements) {
  std::atomic<bool> whole = true;
  parallel_runs(std::ssize(elements), 1 << 16, [&](std::int64_t first, std::int64_t count) {
    bool run = true;
    for (std::int64_t i = first; i < first + count; ++i) {
      run &= is_whole(elements[static_cast<std::size_t>(i)]);
    }
    if (!run) whole = false;
  });
  return whole;
}

template <class T>
std::span<const T> row_of(std::span<const T> matrix, std::int64_t row, std::int64_t cols) {
  return matrix.subspan(static_cast<std::size_t>(row * cols), static_cast<std::size_t>(cols));
}

/// y = x W^T + b with x of {m, k}, W of {n, k} and b of {n} or empty; `In` is the dtype of the
/// factors, `Out` that of y and b.
template <class In, class Out>
struct Product {
  std::int64_t m, n, k;
  std::span<const In> x, w;
  std::span<const Out> b, y;

  /// W^T r, by blocks of columns.
  std::vector<Residue> weighted(std::span<const Residue> r) const {
    constexpr std::int64_t block = 512;
    std::vector<Residue> sums(static_cast<std::size_t>(k));
    parallel_runs(k, block, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Residue weight = r[static_cast<std::size_t>(j)];
        const In* row = w.data() + j * k;
        for (std::int64_t c = first; c < first + count; ++c) {
          sums[static_cast<std::size_t>(c)] += residue(row[c]) * weight;
        }
      }
    });
    return sums;
  }

  bool row_agrees(std::int64_t i, std::span<const Residue> r, std::span<const Residue> wr,
                  Residue br) const {
    const auto got = row_of(y, i, n);
    bool whole = true;
    for (const Out value : got) whole &= is_whole(value);
    return whole && dot(got, r) == dot(row_of(x, i, k), wr) + br;
  }

  /// Computes row i and notes its wrong elements.
  void locate(Verdict& verdict, std::int64_t i) const {
    for (std::int64_t j = 0; j < n; ++j) {
      const Residue bias = b.empty() ? 0 : residue(b[static_cast<std::size_t>(j)]);
      const auto sum = static_cast<std::int64_t>(dot(row_of(x, i, k), row_of(w, j, k)) + bias);
      const auto expected = static_cast<Out>(sum);
      const Out got = y[static_cast<std::size_t>(i * n + j)];
      if (!(got == expected)) note_wrong(verdict, i * n + j, 0, expected, got);
    }
  }

  Verdict judge(DType dtype) const {
    if (!all_whole(x) || !all_whole(w) || !all_whole(b)) {
      throw std::logic_error("freivalds: the inputs are not whole numbers");
    }
    // Seeds the weights by the data: a repeated trial gets the same ones.
    const std::uint64_t seed = residue(x.front()) ^ random_bits(residue(x.back()), 0, 0);
    std::vector<Residue> r(static_cast<std::size_t>(n));
    for (std::size_t j = 0; j < r.size(); ++j) r[j] = 1 + random_bits(seed, 0, j) % 0x10000;
    const std::vector<Residue> wr = weighted(r);
    const Residue br = b.empty() ? 0 : dot(b, std::span<const Residue>(r));

    std::vector<char> agrees(static_cast<std::size_t>(m));
    parallel_runs(m, 1, [&](std::int64_t i, std::int64_t) {
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
  const Product<In, Out> product{
      .m = y.at(0),
      .n = y.at(1),
      .k = op.signature.inputs[0].shape.at(1),
      .x = problem.input<In>(0),
      .w = problem.input<In>(1),
      .b = has_bias ? problem.input<Out>(2) : std::span<const Out>{},
      .y = {reinterpret_cast<const Out*>(actual.data()), elements},
  };
  return product.judge(output_dtype(op));
}

}  // namespace

Verdict freivalds(const reference::Problem& problem, std::span<const std::byte> actual) {
  const OpInstance& op = problem.op;
  if (!op.signature.is_product || actual.size() != op.signature.outputs[0].bytes()) {
    throw std::logic_error("freivalds: not the output of a product");
  }
  return visit_dtype(op.dtype, [&]<class In>(std::type_identity<In>) -> Verdict {
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
