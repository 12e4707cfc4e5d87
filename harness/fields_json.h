#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/record.h"
#include "kernels/base/status.h"

// JSON objects from and to any struct that has visit_fields. Empty fields are left out.
namespace assay {
namespace json_detail {

using Json = nlohmann::json;

inline void put(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}
inline void put(Json& object, const char* key, Status value) { object[key] = name(value); }
template <class Number>
requires std::is_arithmetic_v<Number>
void put(Json& object, const char* key, Number value) { object[key] = value; }
template <class T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::floating_point<T>) {
    if (!std::isfinite(*value)) return;  // JSON has no such number
  }
  object[key] = *value;
}

inline void get(const Json& value, Status& field) {
  const auto status = parse_status(value.get<std::string>());
  if (!status) throw UsageError("unknown status '" + value.get<std::string>() + "'");
  field = *status;
}
template <class T>
void get(const Json& value, std::optional<T>& field) {
  field = value.get<T>();
}
template <class T>
void get(const Json& value, T& field) {
  field = value.get<T>();
}

}  // namespace json_detail

template <class Struct>
nlohmann::json fields_to_json(const Struct& object) {
  nlohmann::json json = nlohmann::json::object();
  visit_fields(object,
               [&](const char* key, const auto& field) { json_detail::put(json, key, field); });
  return json;
}

/// Throws nlohmann::json::exception when a value is of the wrong type, UsageError for an unknown
/// status. Absent keys leave the field.
template <class Struct>
Struct fields_from_json(const nlohmann::json& json) {
  Struct object;
  visit_fields(object, [&](const char* key, auto& field) {
    if (const auto found = json.find(key); found != json.end()) json_detail::get(*found, field);
  });
  return object;
}

}  // namespace assay
