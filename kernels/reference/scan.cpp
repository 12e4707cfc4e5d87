#include <cmath>
#include <type_traits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

/// Elements in a block. The state of a scan holds the sum before every block.
constexpr std::size_t block = 1024;

/// State of each block: value, rest and magnitude of the sum of all elements before it.
template <class T>
State solve_scan(const Problem& p) {
  State state;
  ExactSum sum;
  double magnitude = 0;
  const auto x = p.input<T>(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % block == 0) state.insert(state.end(), {sum.value(), sum.rest(), magnitude});
    sum.add(wide(x[i]));
    magnitude += std::abs(wide(x[i]));
  }
  return state;
}

/// Element i adds at most its first i + 1 terms. The bound counts n of them, so the scale takes the
/// share (i + 1) / n.
template <class T>
void scan_values(const Problem& p, std::span<const double> state, std::int64_t first, Values out) {
  const auto x = p.input<T>(0);
  const auto begin = static_cast<std::size_t>(first);
  const double* before = &state[begin / block * 3];
  ExactSum sum(before[0], before[1]);
  double magnitude = before[2];
  for (std::size_t i = begin / block * block; i < begin + out.value.size(); ++i) {
    if (i % block == 0) {
      before = &state[i / block * 3];
      sum = ExactSum(before[0], before[1]);
      magnitude = before[2];
    }
    sum.add(wide(x[i]));
    magnitude += std::abs(wide(x[i]));
    if (i < begin) continue;
    out.value[i - begin] = sum.value();
    out.rest[i - begin] = sum.rest();
    out.scale[i - begin] = magnitude * (static_cast<double>(i + 1) / static_cast<double>(x.size()));
  }
}

/// Share of the elements in the sum of the first i + 1.
double scanned_share(const OpInstance& op, std::int64_t i) {
  return static_cast<double>(i + 1) / static_cast<double>(op.signature.terms);
}

/// State of integers, which wrap: plain sums before each block.
template <class T>
State solve_wrapping_scan(const Problem& p) {
  State state;
  std::make_unsigned_t<T> sum = 0;
  const auto x = p.input<T>(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % block == 0) state.push_back(as_state(sum));
    sum += static_cast<std::make_unsigned_t<T>>(x[i]);
  }
  return state;
}

template <class T>
void scan_bits(const Problem& p, std::span<const double> state, std::int64_t first,
               std::span<std::byte> out) {
  using U = std::make_unsigned_t<T>;
  const auto x = p.input<T>(0);
  const auto begin = static_cast<std::size_t>(first);
  U sum = 0;
  for (std::size_t i = begin / block * block; i < begin + out.size() / sizeof(T); ++i) {
    if (i % block == 0) sum = from_state<U>(state[i / block]);
    sum += static_cast<U>(x[i]);
    if (i >= begin) store(out, i - begin, sum);
  }
}

Reference scan(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_wrapping_scan<T>, .bits = scan_bits<T>};
    } else {
      return {.solve = solve_scan<T>, .values = scan_values<T>, .share = scanned_share};
    }
  });
}

constexpr ReferenceRow rows[] = {
    {"scan", scan},
};

}  // namespace

std::span<const ReferenceRow> scan_references() { return rows; }

}  // namespace assay::reference
