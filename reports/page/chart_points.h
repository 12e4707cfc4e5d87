#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/chart/svg.h"
#include "reports/page/plot.h"
#include "reports/page/sections.h"

// What the charts of a page share.
namespace assay::page {

/// More could not be told apart.
inline constexpr std::size_t most_series = Svg::mark_shapes;

struct Shown {
  const Record* trial;
  std::size_t row;
  std::size_t column;
};

PlotPoint point_of(const Shown& shown, double x, double y);

/// The best value of a limit of a device.
std::optional<double> limit_value(const RunSource& run, std::string_view device,
                                  std::string_view name, std::string_view unit);

/// The rates of an op, all of `shown`, against size: a series for each column where there are
/// several, else for each kind of trial. Nothing where no series has three sizes.
std::optional<std::string> op_chart(const Content& content, const GridOp& op,
                                    std::vector<Shown> shown);

/// All arithmetic of a device against operations per byte, under its measured limits; nothing where
/// it has none.
std::optional<std::string> roofline(const Content& content, std::size_t column);

}  // namespace assay::page
