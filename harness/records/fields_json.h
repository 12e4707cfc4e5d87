#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/records/fields_text.h"
#include "kernels/core/status.h"

// Conversion between JSON objects and any struct that has visit_fields. Leaves out empty fields.
namespace assay {

/// Throws UsageError if the value is not a whole number or is out of range. The library's own
/// conversion wraps, cuts off fractions, and is undefined for a double beyond the range.
template <std::integral Number>
Number whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  }
  throw UsageError("not a whole number from " + std::to_string(std::numeric_limits<Number>::min()) +
                   " to " + std::to_string(std::numeric_limits<Number>::max()));
}

namespace json_detail {

using Json = nlohmann::json;

inline void put(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}
template <class Named>
requires requires(const Named& value) { name(value); }
void put(Json& object, const char* key, const Named& value) { object[key] = name(value); }
template <class T>
void put(Json& object, const char* key, const std::vector<T>& values) {
  if (!values.empty()) object[key] = values;
}
template <class Number>
requires std::is_arithmetic_v<Number>
void put(Json& object, const char* key, Number value) { object[key] = value; }
template <class T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::floating_point<T>) {
    if (!std::isfinite(*value)) return;  // JSON has no such number
  }
  put(object, key, *value);
}

template <class T>
void get(const Json& value, T& field) {
  if constexpr (std::is_enum_v<T>) {
    from_cell(value.get<std::string>(), field);
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    field = whole_number<T>(value);
  } else {
    field = value.get<T>();
  }
}
template <class T>
void get(const Json& value, std::vector<T>& field) {
  if (!value.is_array()) throw UsageError("not a list");
  for (const Json& element : value) get(element, field.emplace_back());
}
template <class T>
void get(const Json& value, std::optional<T>& field) {
  get(value, field.emplace());
}

}  // namespace json_detail

template <class Struct>
nlohmann::json fields_to_json(const Struct& object) {
  nlohmann::json json = nlohmann::json::object();
  visit_fields(object,
               [&](const char* key, const auto& field) { json_detail::put(json, key, field); });
  return json;
}

/// Throws nlohmann::json::exception for a value of the wrong type. Throws UsageError for an unknown
/// name and for a number that is not whole or not in the field's range. Absent keys leave the
/// field.
template <class Struct>
Struct fields_from_json(const nlohmann::json& json) {
  Struct object;
  visit_fields(object, [&](const char* key, auto& field) {
    if (const auto found = json.find(key); found != json.end()) json_detail::get(*found, field);
  });
  return object;
}

}  // namespace assay
