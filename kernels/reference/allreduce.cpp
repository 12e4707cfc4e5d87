#include <cmath>
#include <cstring>

#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

template <class T>
void sum_over_ranks(const Problem& p, std::span<const double>, std::int64_t first, Values out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    ExactSum total;
    double magnitude = 0;
    for (std::size_t rank = 0; rank < p.ranks.size(); ++rank) {
      const double term = p.input<T>(0, rank)[static_cast<std::size_t>(first) + i];
      total.add(term);
      magnitude += std::abs(term);
    }
    out.value[i] = total.value();
    out.rest[i] = total.rest();
    out.scale[i] = magnitude;
  }
}

void integer_sum_over_ranks(const Problem& p, std::span<const double>, std::int64_t first,
                            std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size() / sizeof(std::int64_t); ++i) {
    std::uint64_t total = 0;  // wraps
    for (std::size_t rank = 0; rank < p.ranks.size(); ++rank) {
      total += static_cast<std::uint64_t>(
          p.input<std::int64_t>(0, rank)[static_cast<std::size_t>(first) + i]);
    }
    std::memcpy(out.data() + i * sizeof total, &total, sizeof total);
  }
}

Reference allreduce(const OpInstance& op) {
  switch (op.dtype) {
    case DType::f64:
      return {.values = sum_over_ranks<double>};
    case DType::f32:
      return {.values = sum_over_ranks<float>};
    default:
      return {.bits = integer_sum_over_ranks};
  }
}

constexpr ReferenceRow rows[] = {
    {"allreduce", allreduce},
};

}  // namespace

std::span<const ReferenceRow> allreduce_references() { return rows; }

}  // namespace assay::reference
