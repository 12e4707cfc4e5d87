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
  std::vector<std::string> labels;  // labels of the ticks, in `unit`
  std::string unit;                 // "ms"; empty for plain numbers
  bool is_logarithmic = false;

  /// Returns the position of a value: 0 at the low end, 1 at the high one.
  double position(double value) const;
};

/// An axis that holds both values with a margin, `low` <= `high` finite, with about `most` ticks at
/// multiples of 1, 2 or 5 times a power of ten. A unit gets the decimal prefix that suits the
/// numbers: "s" becomes "ms".
ChartAxis chart_axis(double low, double high, int most, std::string_view unit);

/// An axis from 0 to above `high`, which is finite and positive.
ChartAxis axis_from_zero(double high, int most, std::string_view unit);

/// A logarithmic axis that holds both values, 0 < `low` <= `high` finite, with a margin. Ticks are
/// at powers of ten, or at 1, 2 and 5 times them where the values are near each other; there are at
/// most `most` of them. With a unit each label has a prefix of its own:
/// "1k", "10M".
ChartAxis logarithmic_axis(double low, double high, int most, std::string_view unit);

}  // namespace assay
