#include "reports/chart/chart_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

/// Returns the smallest of 1, 2 and 5 times a power of ten that is not below.
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

/// Sets ticks at multiples of a round step within [low, high].
void add_round_ticks(ChartAxis& axis, int most, std::string_view unit) {
  const double step = round_step((axis.high - axis.low) / most);
  const Prefix prefix = unit.empty() ? Prefix{"", 1.0} : prefix_for(std::abs(axis.high));
  axis.unit = unit.empty() ? "" : std::string(prefix.symbol) + std::string(unit);
  const int digits =
      std::max(0, static_cast<int>(-std::floor(std::log10(step / prefix.factor) + 1e-9)));
  // Adds 0 to make a negative zero positive.
  for (double tick = std::ceil(axis.low / step) + 0.0; tick * step <= axis.high; ++tick) {
    axis.ticks.push_back(tick * step);
    axis.labels.push_back(fmt::format("{:.{}f}", tick * step / prefix.factor, digits));
  }
}

void add_prefixed_tick(ChartAxis& axis, double value) {
  const Prefix prefix = axis.unit.empty() ? Prefix{"", 1.0} : prefix_for(value * (1 + 1e-9));
  axis.ticks.push_back(value);
  axis.labels.push_back(fmt::format("{:.4g}{}", value / prefix.factor, prefix.symbol));
}

/// Sets the ticks of a logarithmic axis that is too short for round powers.
void add_linear_ticks(ChartAxis& axis, int most) {
  axis.ticks.clear();
  axis.labels.clear();
  const double step = round_step((axis.high - axis.low) / most);
  for (double tick = std::ceil(axis.low / step); tick * step <= axis.high; ++tick) {
    add_prefixed_tick(axis, tick * step);
  }
}

}  // namespace

double ChartAxis::position(double value) const {
  if (is_logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

ChartAxis chart_axis(double low, double high, int most, std::string_view unit) {
  // Gives a constant room around it, or there would be no axis.
  const double spread = std::max(high - low, 1e-3 * std::max(std::abs(low), std::abs(high)));
  const double range = spread > 0 ? spread : 1;
  const double middle = low + (high - low) / 2;
  ChartAxis axis{.low = middle - 0.6 * range, .high = middle + 0.6 * range};
  add_round_ticks(axis, most, unit);
  return axis;
}

ChartAxis axis_from_zero(double high, int most, std::string_view unit) {
  ChartAxis axis{.low = 0, .high = 1.08 * high};
  add_round_ticks(axis, most, unit);
  return axis;
}

ChartAxis logarithmic_axis(double low, double high, int most, std::string_view unit) {
  constexpr double margin = 1.15;
  ChartAxis axis{.low = low / margin, .high = high * margin};
  axis.unit = unit;
  axis.is_logarithmic = true;
  const auto add_tick = [&](double value) {
    if (value >= axis.low && value <= axis.high) add_prefixed_tick(axis, value);
  };
  const auto first = static_cast<int>(std::floor(std::log10(axis.low)));
  const auto last = static_cast<int>(std::ceil(std::log10(axis.high)));
  for (const bool fine : {true, false}) {
    for (int every = 1; every <= last - first + 1; ++every) {
      axis.ticks.clear();
      axis.labels.clear();
      for (int power = first; power <= last; ++power) {
        if (power % every != 0) continue;
        for (const double factor : {1.0, 2.0, 5.0}) {
          if (factor == 1 || fine) add_tick(factor * std::pow(10.0, power));
        }
      }
      if (std::ssize(axis.ticks) > most) {
        if (fine) break;
        continue;
      }
      if (axis.ticks.size() < 2) add_linear_ticks(axis, most);
      return axis;
    }
  }
  return axis;
}

}  // namespace assay
