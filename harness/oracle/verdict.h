#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/dtype.h"

namespace assay::oracle {

/// Findings of an oracle in one output, or in several merged.
struct Verdict {
  DType dtype = DType::f32;  // of the worst element
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t improbable = 0;  // mismatches within the proved bound, beyond the probabilistic one
  double max_ulp = 0;           // worst |error| in ulps of the expected value
  double max_abs_error = 0;     // NaN counts as infinite
  /// Worst |error| / allowed of the elements with a bound; empty where only exact values pass.
  std::optional<double> max_bound_ratio;

  // Statistics of all outputs with a finite expected value, where a bound is the rule.
  std::int64_t bounded = 0;        // number of them
  std::int64_t misrounded = 0;     // outputs that are not correctly rounded
  double error_squares = 0;        // sum of error^2
  double scales = 0;               // sum of the reference's scale
  double largest_error = 0;        // largest |error| of them
  std::int64_t largest_index = 0;  // index of largest_error

  // Statistics of the outputs with a deviation of their own (Oracle::measured_band).
  std::int64_t banded = 0;           // number of them
  double band_squares = 0;           // sum of (error / deviation)^2
  std::int64_t band_misrounded = 0;  // different values that are not correctly rounded
  double misroundings_expected = 0;  // sum of the chances of that
  std::int64_t near_ties = 0;        // different values beside a border of rounding
  std::int64_t unknown = 0;          // outputs of which the reference cannot tell what is right

  /// The worst element: a wrong one if there is any, else the one nearest to its bound.
  struct Worst {
    bool known = false;
    bool mismatch = false;
    double severity = 0;  // |error| / allowed; infinite where nothing is allowed
    double allowed = 0;   // |error|
    std::int64_t index = 0;
    int rank = 0;
    std::uint64_t expected_bits = 0;  // stored bits, right-aligned
    std::uint64_t actual_bits = 0;
  } worst;

  /// The lowest indices of wrong elements, ascending, at most `kept_indices`.
  std::vector<std::int64_t> mismatch_indices;
  static constexpr std::size_t kept_indices = 64;

  bool passed() const { return mismatches == 0; }
  /// True if the proved bound alone would have passed.
  bool only_improbable() const { return improbable > 0 && improbable == mismatches; }

  /// Moves all places by so many elements: the findings were of a part that begins there.
  void move(std::int64_t distance);
  /// Adds the findings of another verdict. The result does not depend on the order of merging.
  void merge(const Verdict& other);

  /// The distance between wrong elements when there are three or more and it is always the same;
  /// else 0. Names a warp, a vector lane or a column.
  std::int64_t stride() const;

  /// The worst element's values in decimal, a NaN as its bits; empty when none is known.
  std::string expected() const;
  std::string actual() const;

  /// Findings in outputs of `ranks` ranks: "12 of 1024 elements wrong; worst at [17]: expected 3,
  /// got 4 (bits differ: 0x400000), ..."
  std::string text(int ranks = 1) const;
};

/// " of rank 2", and nothing where there is one rank.
std::string of_rank(std::int64_t rank, int ranks);

}  // namespace assay::oracle
