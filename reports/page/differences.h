#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/page/times.h"

namespace assay::page {

/// Geometric mean and extent of ratios.
struct Mean {
  double logs = 0;
  double least = 0;
  double most = 0;
  std::int64_t count = 0;

  void add(double ratio);
  double logs_mean() const { return logs / static_cast<double>(count); }
  double value() const { return std::exp(logs_mean()); }
};

/// Means of the times over those of the baseline, by suite, then by column.
using Means = std::map<std::string, std::vector<Mean>>;
inline const std::string all_suites = "all suites";
Means means_of(const Content& content, const Times& times);

/// A property or setting that differs between the columns or runs beside each other.
struct Property {
  std::string name;
  std::vector<std::string> values;  // for people
  bool differs = false;             // as they were read, though people may see the same text
};
/// Properties of all devices of all runs, also of those without a trial, and the headings of their
/// columns.
struct Properties {
  std::vector<std::string> columns;
  std::vector<Property> rows;
};
Properties devices_of(const Content& content);
/// Settings of the runs that may change results or times.
Properties settings_of_runs(const Content& content);

}  // namespace assay::page
