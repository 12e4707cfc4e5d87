#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// An axis of a chart: round numbers between and around the values.
struct ChartAxis {
  double low = 0;
  double high = 1;
  std::vector<double> ticks;        // within [low, high]
  std::vector<std::string> labels;  // of the ticks, in `unit`
  std::string unit;                 // "ms"; empty for plain numbers

  /// Where a value lies: 0 at the low end, 1 at the high one.
  double place(double value) const { return (value - low) / (high - low); }
};

/// An axis that holds both values with a margin, `low` <= `high` finite, with about `most` ticks at
/// multiples of 1, 2 or 5 times a power of ten. A unit gets the decimal prefix that suits the
/// numbers: "s" becomes "ms".
ChartAxis chart_axis(double low, double high, int most, std::string_view unit);

}  // namespace assay
