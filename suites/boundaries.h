#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"
#include "suites/suite.h"

// Shapes that are chosen for the boundaries at which kernels go wrong, each for a stated reason.
namespace assay {

/// Points of `level` in which each two values of two of the parameters meet, in few of them. Leaves
/// out what multiplies to more than `max_work`.
Axis pairwise(Level level, std::vector<Boundaries> parameters, double max_work);

/// How far the cases of a plan meet the boundaries of an op.
struct Coverage {
  std::string suite;
  std::string op;
  struct Value {
    std::string_view parameter;
    Boundary boundary;
    std::int64_t cases = 0;
  };
  std::vector<Value> values;
  /// Pairs of values of two parameters: of those that a case of that work may have.
  std::size_t pairs_met = 0;
  std::size_t pairs = 0;
};

/// Coverage of each op of the suites that has boundaries, in the order of the suites. Cases at no
/// boundary do not count.
std::vector<Coverage> coverage(std::span<const Case> cases);

}  // namespace assay
