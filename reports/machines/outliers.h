#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/machines/fleet.h"

namespace assay {

/// Test of one device, or lane of several, in one suite and dtype against the others of its
/// product.
struct OutlierTest {
  std::uint32_t machine = 0;  // index into Fleet::machines
  std::string lane;
  std::string suite;
  std::string dtype;
  std::size_t cases = 0;
  /// Median over the cases of its time over the median time of all devices; relative to the median
  /// device. Above 1 it is slower.
  double time_ratio = 1;
  double z = 0;
  double p = 1;
  double p_holm = 1;  // over all tests of the product
  bool is_outlier = false;
  // The case that shows it best: its time is the most of that case's spreads from the median. Of an
  // outlier alone.
  std::uint32_t shown_by = 0;  // index into Fleet::cases
  double shown_ratio = 1;      // its time over the median
};

struct ProductOutliers {
  std::string product;
  std::size_t machines = 0;
  std::size_t units = 0;           // devices and lanes with times
  std::vector<OutlierTest> tests;  // the least p first; empty: too few to tell

  std::size_t outliers() const;
};

struct OutlierRule {
  double level = 0.05;   // of p_holm
  double margin = 0.02;  // smaller differences of time are no outliers
};

/// One for each product, in the order of the fleet's machines.
std::vector<ProductOutliers> find_outliers(const Fleet& fleet, const OutlierRule& rule);

}  // namespace assay
