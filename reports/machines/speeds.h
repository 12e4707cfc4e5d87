#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/statistics/interval.h"
#include "reports/machines/fleet.h"

namespace assay {

/// One side of the comparison: a product, or one machine where all are of one product.
struct FleetColumn {
  std::string name;                     // "NVIDIA H100", or "NVIDIA H100 in node7"
  std::vector<std::uint32_t> machines;  // indices into Fleet::machines
};

/// Returns the columns in the order of their first runs.
std::vector<FleetColumn> fleet_columns(const Fleet& fleet);

/// Values of many cases, those of a case side by side.
class ByCase {
 public:
  /// Takes the times of these units; `pools` maps a case to the one with which it is pooled.
  ByCase(const Fleet& fleet, std::span<const FleetUnit* const> units,
         std::span<const std::uint32_t> pools = {});

  std::span<float> of(std::uint32_t test) {
    return std::span(values_).subspan(begins_[test], begins_[test + 1] - begins_[test]);
  }

 private:
  std::vector<float> values_;
  std::vector<std::size_t> begins_;
};

/// Median of values in any order, which it reorders; there is at least one.
float median_in_place(std::span<float> values);

/// Speed of a column relative to the baseline over some cases: above 1 it takes less time.
struct FleetSpeed {
  std::size_t column = 0;
  std::string suite;  // empty: all
  std::string dtype;
  std::size_t cases = 0;
  double speed = 1;                              // geometric mean
  std::optional<statistics::Interval> interval;  // 95%, over the cases; none for a single one
  std::size_t slower = 0;                        // cases that take longer than on the baseline
  std::size_t faster = 0;
  std::uint32_t slowest_case = 0;
  double least = 1;
  std::uint32_t fastest_case = 0;
  double most = 1;
  std::size_t rank = 1;  // by speed; 1 is the fastest
  /// The slowest of the slower cases with their speeds, at most max_slowest; of all suites only.
  std::vector<std::pair<std::uint32_t, double>> slowest;

  static constexpr std::size_t max_slowest = 100;
};

struct FleetSpeeds {
  std::size_t baseline = 0;           // column
  std::vector<std::size_t> untimed;   // columns without any time: they are in no comparison
  std::vector<std::uint32_t> common;  // cases that all the others have
  std::size_t timed_cases = 0;        // that any has
  std::size_t min_cases_column = 0;   // that has the fewest of them
  std::size_t min_cases = 0;
  std::vector<FleetSpeed> all;            // over all of `common`, one for each timed column
  std::vector<FleetSpeed> of_each_group;  // by suite and dtype, then rank
};

FleetSpeeds fleet_speeds(const Fleet& fleet, std::span<const FleetColumn> columns,
                         std::size_t baseline);

}  // namespace assay
