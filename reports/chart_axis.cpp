#include "reports/chart_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

/// The smallest of 1, 2 and 5 times a power of ten that is not below.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

struct Prefix {
  std::string_view symbol;
  double factor;
};

Prefix prefix_for(double largest) {
  constexpr std::array<Prefix, 7> prefixes{
      {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1.0}, {"m", 1e-3}, {"µ", 1e-6}}};
  for (const Prefix& prefix : prefixes) {
    if (largest >= prefix.factor) return prefix;
  }
  return {"n", 1e-9};
}

}  // namespace

ChartAxis chart_axis(double low, double high, int most, std::string_view unit) {
  // A constant gets room around it, or there would be no axis.
  const double spread = std::max(high - low, 1e-3 * std::max(std::abs(low), std::abs(high)));
  const double range = spread > 0 ? spread : 1;
  const double middle = low + (high - low) / 2;
  ChartAxis axis{.low = middle - 0.6 * range, .high = middle + 0.6 * range};
  const double step = round_step(1.2 * range / most);
  const Prefix prefix = unit.empty() ? Prefix{"", 1.0} : prefix_for(std::abs(axis.high));
  axis.unit = unit.empty() ? "" : std::string(prefix.symbol) + std::string(unit);
  const int digits =
      std::max(0, static_cast<int>(-std::floor(std::log10(step / prefix.factor) + 1e-9)));
  // Adding 0 makes the zero of a negative number positive.
  for (double tick = std::ceil(axis.low / step) + 0.0; tick * step <= axis.high; ++tick) {
    axis.ticks.push_back(tick * step);
    axis.labels.push_back(fmt::format("{:.{}f}", tick * step / prefix.factor, digits));
  }
  return axis;
}

}  // namespace assay
