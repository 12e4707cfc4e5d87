#include "harness/oracle/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "harness/oracle/number.h"

namespace assay::oracle {
namespace {

std::string decimal(std::uint64_t bits, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T value = from_bits<T>(bits);
    if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", value);
    } else if constexpr (std::is_same_v<T, double>) {
      return std::isnan(value) ? fmt::format("{:#x}", bits) : fmt::format("{}", value);
    } else {
      const auto narrow = static_cast<float>(value);
      return std::isnan(narrow) ? fmt::format("{:#x}", bits) : fmt::format("{}", narrow);
    }
  });
}

}  // namespace

std::string Verdict::expected() const {
  return worst.known ? decimal(worst.expected_bits, dtype) : "";
}

std::string Verdict::actual() const { return worst.known ? decimal(worst.actual_bits, dtype) : ""; }

void Verdict::move(std::int64_t distance) {
  worst.index += distance;
  largest_index += distance;
  for (std::int64_t& index : mismatch_indices) index += distance;
}

void Verdict::merge(const Verdict& other) {
  elements += other.elements;
  mismatches += other.mismatches;
  improbable += other.improbable;
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_abs_error = std::max(max_abs_error, other.max_abs_error);
  max_bound_ratio = std::max(max_bound_ratio, other.max_bound_ratio);
  bounded += other.bounded;
  misrounded += other.misrounded;
  error_squares += other.error_squares;
  scales += other.scales;
  banded += other.banded;
  band_squares += other.band_squares;
  band_misrounded += other.band_misrounded;
  misroundings_expected += other.misroundings_expected;
  near_ties += other.near_ties;
  unknown += other.unknown;
  if (std::tuple(other.largest_error, -other.largest_index) >
      std::tuple(largest_error, -largest_index)) {
    largest_error = other.largest_error;
    largest_index = other.largest_index;
  }

  // Prefers wrong to right, then the more severe, then the lower index and rank.
  const auto rank_of = [](const Worst& w) {
    return std::tuple(w.known, w.mismatch, w.severity, -w.index, -w.rank);
  };
  if (!worst.known || rank_of(other.worst) > rank_of(worst)) {
    worst = other.worst;
    dtype = other.dtype;
  }

  std::vector<std::int64_t> indices;
  std::merge(mismatch_indices.begin(), mismatch_indices.end(), other.mismatch_indices.begin(),
             other.mismatch_indices.end(), std::back_inserter(indices));
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  if (indices.size() > kept_indices) indices.resize(kept_indices);
  mismatch_indices = std::move(indices);
}

std::int64_t Verdict::stride() const {
  if (mismatch_indices.size() < 3) return 0;
  const std::int64_t first = mismatch_indices[1] - mismatch_indices[0];
  for (std::size_t i = 2; i < mismatch_indices.size(); ++i) {
    if (mismatch_indices[i] - mismatch_indices[i - 1] != first) return 0;
  }
  return first;
}

std::string of_rank(std::int64_t rank, int ranks) {
  return ranks > 1 ? fmt::format(" of rank {}", rank) : "";
}

std::string Verdict::text(int ranks) const {
  if (passed()) return fmt::format("all {} elements right", elements);
  const std::string bits = fmt::format("expected {}, got {} (bits differ: {:#x})", expected(),
                                       actual(), worst.expected_bits ^ worst.actual_bits);
  const char* within =
      only_improbable() ? "; within the proved bound, beyond the probabilistic one" : "";
  if (elements == 1) return "the only element is wrong: " + bits + within;
  std::string text = fmt::format("{} of {} elements wrong; worst at [{}]{}: {}", mismatches,
                                 elements, worst.index, of_rank(worst.rank, ranks), bits);
  if (stride() == 1) {
    text += fmt::format("; consecutive from [{}]", mismatch_indices.front());
  } else if (stride() > 1) {
    text += fmt::format("; every {}th element from [{}]", stride(), mismatch_indices.front());
  } else if (mismatches > 1) {
    text += fmt::format("; first at [{}]", mismatch_indices.front());
  }
  return text + within;
}

}  // namespace assay::oracle
