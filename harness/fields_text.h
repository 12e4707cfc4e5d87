#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record.h"
#include "harness/utf8.h"

namespace assay {

/// A field of `visit_fields` as the text of a cell: independent of the locale, doubles in the
/// fewest digits that read back as the same number. Empty where there is no value, and for NaN and
/// infinity, which are not numbers to whoever reads a column of numbers. Always valid UTF-8.
template <class T>
std::string to_cell(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::same_as<T, Status>) {
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

/// The columns of a type that has `visit_fields`, in order.
template <class Fields>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Fields fields;
  visit_fields(fields, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

/// The cells of one row, in the order of `field_names`.
template <class Fields>
std::vector<std::string> field_cells(const Fields& fields) {
  std::vector<std::string> cells;
  visit_fields(fields,
               [&](std::string_view, const auto& value) { cells.push_back(to_cell(value)); });
  return cells;
}

}  // namespace assay
