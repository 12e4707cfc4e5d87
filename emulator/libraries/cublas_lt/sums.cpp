#include "emulator/libraries/cublas_lt/sums.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <type_traits>

#include "emulator/numbers/clones.h"

namespace emulator::cublas_lt {
namespace {

constexpr int block_columns = 4;
/// Rows of a block, whose 4 sums each fit the registers.
template <class T>
constexpr int block_rows = 64 / sizeof(T);
static_assert(tile_rows == 64);

template <class T>
ASSAY_INLINE T multiply_add(T a, T b, T sum) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_fmaf(a, b, sum);
  } else if constexpr (std::is_same_v<T, double>) {
    return __builtin_fma(a, b, sum);
  } else {
    return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) +
                          static_cast<std::uint32_t>(sum));
  }
}

/// A block of rows times 4 columns. Loops across rows are vectors, so the order of
/// each sum is that of its terms.
template <class T>
ASSAY_INLINE void sum_block(const T* a, const std::array<const T*, block_columns>& b,
                            const PartialSum& partial, T* out, std::int64_t out_step) {
  constexpr int rows = block_rows<T>;
  T sum[block_columns][rows] = {};
  for (const Terms& terms : partial) {
    for (std::int64_t l = terms.begin; l < terms.end; ++l) {
      const T* const row = a + l * tile_rows;
      for (int j = 0; j < block_columns; ++j) {
        const T factor = b[static_cast<std::size_t>(j)][l];
        for (int i = 0; i < rows; ++i) {
          sum[j][i] = multiply_add(row[i], factor, sum[j][i]);
        }
      }
    }
  }
  for (int j = 0; j < block_columns; ++j) {
    for (int i = 0; i < rows; ++i) out[j * out_step + i] = sum[j][i];
  }
}

template <class T>
ASSAY_INLINE void sum_tile(const T* a, const std::array<const T*, block_columns>& b,
                           const PartialSum& partial, T* out) {
  for (int i = 0; i < tile_rows; i += block_rows<T>) {
    sum_block(a + i, b, partial, out + i, tile_rows);
  }
}
template <class T>
ASSAY_CLONE void sum_tile_v3(const T* a, const std::array<const T*, block_columns>& b,
                             const PartialSum& partial, T* out) {
  sum_tile(a, b, partial, out);
}

template <class T>
T added(T total, T partial, const Reduction& reduction) {
  if (reduction.of_partial) partial = static_cast<T>(reduction.of_partial(double(partial)));
  T sum;
  if constexpr (std::is_integral_v<T>) {
    sum = static_cast<T>(static_cast<std::uint32_t>(total) + static_cast<std::uint32_t>(partial));
  } else {
    sum = total + partial;
  }
  return reduction.of_total ? static_cast<T>(reduction.of_total(double(sum))) : sum;
}

/// Adds the sums of one partial sum to the totals of a tile's column.
template <class T>
void add(const T* partial, T* totals, std::int64_t rows, bool is_first,
         const Reduction& reduction) {
  for (std::int64_t i = 0; i < rows; ++i) {
    totals[i] = added(is_first ? T{} : totals[i], partial[i], reduction);
  }
}

/// Factors with their exponents.
class Factors {
 public:
  Factors(const std::vector<float>& values, const MatrixUnit& unit) : values_(values) {
    exponents_.resize(values.size());
    std::ranges::transform(values, exponents_.begin(),
                           [&](float v) { return factor_exponent(v, unit); });
  }
  UnitFactors from(std::int64_t at) const { return {values_.data() + at, exponents_.data() + at}; }

 private:
  const std::vector<float>& values_;
  std::vector<std::int32_t> exponents_;
};

/// Sums of one tile's rows and one column on their way.
struct UnitSum {
  std::array<float, tile_rows> accumulators{}, promoted{};
  void promote() {
    for (std::size_t i = 0; i < tile_rows; ++i) promoted[i] += accumulators[i];
    accumulators.fill(0);
  }
};

PartialSum rotated(const PartialSum& terms, std::int64_t k, std::int64_t rotation) {
  if (rotation % k == 0) return terms;
  PartialSum first;
  PartialSum then;
  for (const Terms& t : terms) {
    const std::int64_t cut = std::clamp(rotation % k, t.begin, t.end);
    if (cut < t.end) first.push_back({cut, t.end});
    if (t.begin < cut) then.push_back({t.begin, cut});
  }
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

std::vector<PartialSum> order_of(const Algorithm& a, std::int64_t k, std::int64_t rotation) {
  std::vector<PartialSum> order;
  // Whole steps of every matrix unit, which take up to 32 terms.
  const auto cut = [&](std::int64_t part) {
    return part == a.split_k ? k : k * part / a.split_k / 32 * 32;
  };
  for (std::int64_t part = 0; part < a.split_k; ++part) {
    const Terms whole{cut(part), cut(part + 1)};
    if (whole.begin == whole.end) continue;
    if (a.slice == 0) {
      order.push_back({whole});
      continue;
    }
    std::array<PartialSum, 2> slices;
    for (std::int64_t begin = whole.begin; begin < whole.end; begin += a.slice) {
      slices[static_cast<std::size_t>((begin - whole.begin) / a.slice % 2)].push_back(
          {begin, std::min(whole.end, begin + a.slice)});
    }
    for (PartialSum& slice : slices) {
      if (!slice.empty()) order.push_back(std::move(slice));
    }
  }
  for (PartialSum& partial : order) partial = rotated(partial, k, rotation);
  return order;
}

template <class T>
std::vector<T> sums(const Tiles<T>& a, const std::vector<T>& b, std::int64_t columns,
                    const std::vector<PartialSum>& order, const Reduction& reduction) {
  std::vector<T> totals(static_cast<std::size_t>(a.rows * columns));
  const std::int64_t blocks = (columns + block_columns - 1) / block_columns;
  const double operations = double(a.rows) * double(columns) * double(a.terms);
  in_parallel(blocks, operations, [&](std::int64_t block) {
    const std::int64_t first = block * block_columns;
    std::array<const T*, block_columns> b_columns;
    for (std::int64_t j = 0; j < block_columns; ++j) {
      // Columns past the end repeat the last one; nobody keeps their sums.
      b_columns[static_cast<std::size_t>(j)] =
          b.data() + std::min(first + j, columns - 1) * a.terms;
    }
    std::array<T, block_columns * tile_rows> partial_sums;
    for (std::int64_t t = 0; t < a.count(); ++t) {
      for (std::size_t p = 0; p < order.size(); ++p) {
        if (has_wide_vectors()) {
          sum_tile_v3(a.tile(t), b_columns, order[p], partial_sums.data());
        } else {
          sum_tile(a.tile(t), b_columns, order[p], partial_sums.data());
        }
        for (std::int64_t j = 0; j < block_columns && first + j < columns; ++j) {
          add(partial_sums.data() + j * tile_rows,
              totals.data() + (first + j) * a.rows + t * tile_rows,
              std::min<std::int64_t>(tile_rows, a.rows - t * tile_rows), p == 0, reduction);
        }
      }
    }
  });
  return totals;
}

std::vector<float> unit_sums(const MatrixUnit& unit, bool promotes, const Tiles<float>& a,
                             const std::vector<float>& b, std::int64_t columns,
                             const std::vector<PartialSum>& order, const Reduction& reduction) {
  constexpr std::int64_t at_once = 16;  // columns that share what the cache holds of A
  const Factors a_factors(a.values, unit);
  const Factors b_factors(b, unit);
  std::vector<float> totals(static_cast<std::size_t>(a.rows * columns));
  const double operations = 16.0 * double(a.rows) * double(columns) * double(a.terms);
  in_parallel((columns + at_once - 1) / at_once, operations, [&](std::int64_t block) {
    const std::int64_t first = block * at_once;
    const std::int64_t end = std::min(columns, first + at_once);
    for (std::int64_t t = 0; t < a.count(); ++t) {
      for (std::size_t p = 0; p < order.size(); ++p) {
        std::array<UnitSum, at_once> sums{};
        for (const Terms& terms : order[p]) {
          for (std::int64_t l = terms.begin; l < terms.end; l += promotion_terms) {
            const std::int64_t count = std::min<std::int64_t>(promotion_terms, terms.end - l);
            for (std::int64_t j = first; j < end; ++j) {
              UnitSum& sum = sums[static_cast<std::size_t>(j - first)];
              accumulate(unit, count, a_factors.from((t * a.terms + l) * tile_rows),
                         b_factors.from(j * a.terms + l), sum.accumulators.data());
              if (promotes) sum.promote();
            }
          }
        }
        for (std::int64_t j = first; j < end; ++j) {
          const UnitSum& sum = sums[static_cast<std::size_t>(j - first)];
          add(promotes ? sum.promoted.data() : sum.accumulators.data(),
              totals.data() + j * a.rows + t * tile_rows,
              std::min<std::int64_t>(tile_rows, a.rows - t * tile_rows), p == 0, reduction);
        }
      }
    }
  });
  return totals;
}

void in_parallel(std::int64_t count, double operations,
                 const std::function<void(std::int64_t)>& work) {
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const std::int64_t threads = operations < 4e6 ? 1 : std::min(count, cores);
  std::atomic<std::int64_t> next{0};
  const auto take = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::int64_t thread = 1; thread < threads; ++thread) others.emplace_back(take);
  take();
}

template std::vector<float> sums(const Tiles<float>&, const std::vector<float>&, std::int64_t,
                                 const std::vector<PartialSum>&, const Reduction&);
template std::vector<double> sums(const Tiles<double>&, const std::vector<double>&, std::int64_t,
                                  const std::vector<PartialSum>&, const Reduction&);
template std::vector<std::int32_t> sums(const Tiles<std::int32_t>&,
                                        const std::vector<std::int32_t>&, std::int64_t,
                                        const std::vector<PartialSum>&, const Reduction&);

}  // namespace emulator::cublas_lt
