#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>

#include "harness/records/csv_table.h"
#include "harness/records/record.h"
#include "kernels/core/status.h"

namespace assay {

/// Demands on a results.csv: the key of a record, its status, and no newer schema.
TableRules results_rules();

/// Throws for a time of 0 or less, which no clock measured and which gives no rate, and for an
/// interval that ends below its begin. `row` has some of the fields of Record.
template <class Row>
void check_times(const Row& row, const TableRow& cells) {
  visit_fields(row, [&]<class T>(std::string_view column, const T& field) {
    if constexpr (std::same_as<T, std::optional<double>>) {
      if (column.starts_with("time_") && field && !(*field > 0)) {
        throw cells.error(column, "must be above 0");
      }
    }
  });
  if (row.time_ci_low_s && row.time_ci_high_s && *row.time_ci_low_s > *row.time_ci_high_s) {
    throw cells.error("time_ci_low_s", "above time_ci_high_s");
  }
}

/// Returns the error of a repeated key: "NAME:LINE:1: a second row of CASE on DEVICE (...)".
UsageError second_row(std::string_view name, std::size_t line, std::size_t first_line,
                      const Record& key);

}  // namespace assay
