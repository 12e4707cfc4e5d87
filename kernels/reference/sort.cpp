#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

/// Sorts halves in parallel, and merges them. NaN comes last, as NumPy and PyTorch have it.
template <class T>
State solve_sort(const Problem& p) {
  const auto x = p.input<T>(0);
  std::vector<T> y(x.begin(), x.end());
  const auto less = [](T a, T b) {
    if constexpr (!std::is_integral_v<T>) {
      const auto number = wide(a);
      const auto other = wide(b);
      return number < other || (other != other && number == number);
    } else {
      return a < b;
    }
  };
  const auto middle = y.begin() + std::ssize(y) / 2;
#pragma omp parallel sections
  {
#pragma omp section
    std::sort(y.begin(), middle, less);
#pragma omp section
    std::sort(middle, y.end(), less);
  }
  std::inplace_merge(y.begin(), middle, y.end(), less);
  return pack(std::span<const T>(y));
}

void packed_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                 std::span<std::byte> out) {
  if (out.empty()) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(state.data());
  std::memcpy(out.data(), bytes + static_cast<std::size_t>(first) * size_bytes(p.op.dtype()),
              out.size());
}

Reference sort(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_sort<T>, .bits = packed_bits};
  });
}

constexpr ReferenceRow rows[] = {
    {"sort", sort},
};

}  // namespace

std::span<const ReferenceRow> sort_references() { return rows; }

}  // namespace assay::reference
