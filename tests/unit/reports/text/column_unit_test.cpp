#include "reports/text/column_unit.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(SplitUnit, TakesTheUnitFromTheEndOfAColumn) {
  const auto expect = [](std::string_view column, std::string_view name, std::string_view unit) {
    EXPECT_EQ(split_unit(column).name, name) << column;
    EXPECT_EQ(split_unit(column).unit, unit) << column;
  };
  expect("memory_total_bytes", "memory_total", "B");
  expect("memory_peak_bytes_per_s", "memory_peak", "B/s");
  expect("clock_hz", "clock", "Hz");
  expect("temperature_c", "temperature", "°C");
  expect("power_limit_w", "power_limit", "W");
  expect("pci_bus_id", "pci_bus_id", "");
}

}  // namespace
}  // namespace assay
