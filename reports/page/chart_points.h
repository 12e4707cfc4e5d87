#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/chart/svg.h"
#include "reports/page/plot.h"
#include "reports/page/sections.h"

// Parts that the charts of a page share.
namespace assay::page {

/// Limit on the series: more cannot be told apart.
inline constexpr std::size_t max_series = Svg::mark_shapes;

struct Shown {
  const Record* trial;
  std::size_t row;
  std::size_t column;
};

PlotPoint point_of(const Shown& shown, double x, double y);

/// Returns the best value of a limit of a device.
std::optional<double> limit_value(const RunSource& run, std::string_view device,
                                  std::string_view name, std::string_view unit);

/// Draws the rates of an op, all of `shown`, against size: a series for each of several columns, or
/// for each kind of trial of one. Nothing if no series has three sizes.
std::optional<std::string> op_chart(const Content& content, const GridOp& op,
                                    std::vector<Shown> shown);

/// Draws all arithmetic of a device against operations per byte, under its measured limits; nothing
/// if it has none.
std::optional<std::string> roofline(const Content& content, std::size_t column);

}  // namespace assay::page
