#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/records/record.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/utf8.h"

namespace assay {

/// Text of a cell for a field of `visit_fields`. Independent of the locale; doubles have the fewest
/// digits that read back as the same number. Empty for no value, and for NaN and infinity, which
/// readers of a numeric column reject. Always valid UTF-8.
template <class T>
std::string to_cell(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(value));
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  } else if constexpr (std::integral<T>) {
    return fmt::format("{}", value);
  } else {
    return valid_utf8(value);
  }
}

template <class T>
std::string to_cell(const std::optional<T>& value) {
  return value ? to_cell(*value) : std::string();
}

/// Inverse of `to_cell`. Throws UsageError if the cell holds no such value, also for an empty
/// numeric cell and for NaN and infinity, which are never written.
template <class T>
void from_cell(std::string_view cell, T& field) {
  const char* const end = cell.data() + cell.size();
  if constexpr (std::same_as<T, bool>) {
    if (cell != "true" && cell != "false") {
      throw UsageError(fmt::format("must be true or false, not '{}'", cell));
    }
    field = cell == "true";
  } else if constexpr (std::same_as<T, Status>) {
    const auto status = parse_status(cell);
    if (!status) {
      std::vector<std::string> valid;
      for (const Status known : all_statuses()) valid.emplace_back(name(known));
      throw UsageError(unknown_name("status", cell, valid));
    }
    field = *status;
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> valid;
    for (const T known : enumerators(T())) {
      if (name(known) == cell) {
        field = known;
        return;
      }
      valid.emplace_back(name(known));
    }
    throw UsageError(unknown_name("value", cell, valid));
  } else if constexpr (std::floating_point<T>) {
    const auto [stop, error] = std::from_chars(cell.data(), end, field);
    if (error != std::errc() || stop != end || !std::isfinite(field)) {
      throw UsageError(fmt::format("must be a finite number, not '{}'", cell));
    }
  } else if constexpr (std::integral<T>) {
    const auto [stop, error] = std::from_chars(cell.data(), end, field);
    if (error != std::errc() || stop != end) {
      throw UsageError(fmt::format("must be a whole number from {} to {}, not '{}'",
                                   std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                   cell));
    }
  } else {
    if (!is_valid_utf8(cell)) throw UsageError("must be text in UTF-8");
    field = cell;
  }
}

template <class T>
void from_cell(std::string_view cell, std::optional<T>& field) {
  field.reset();
  if (!cell.empty()) from_cell(cell, field.emplace());
}

/// Columns of a type that has `visit_fields`, in order.
template <class Fields>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Fields fields;
  visit_fields(fields, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

/// Cells of one row, in the order of `field_names`.
template <class Fields>
std::vector<std::string> field_cells(const Fields& fields) {
  std::vector<std::string> cells;
  visit_fields(fields,
               [&](std::string_view, const auto& value) { cells.push_back(to_cell(value)); });
  return cells;
}

}  // namespace assay
