#include "harness/records/json_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/fields_json.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

using nlohmann::json;

/// "line 3, column 5" of the byte with this index.
std::string position_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", lines + 1, before.size() - line_start + 1);
}

[[noreturn]] void refuse(const char* key, std::string_view kind) {
  throw UsageError(fmt::format("'{}' must be {}", key, kind));
}

template <class Number>
void read_whole(const char* key, const json& value, Number& field) {
  try {
    field = whole_number<Number>(value);
  } catch (const UsageError& wrong) {
    throw UsageError(fmt::format("'{}': {}", key, wrong.what()));
  }
}

}  // namespace

json parse_json(std::string_view text) {
  const auto check_depth = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > max_json_depth) {
      throw UsageError(
          fmt::format("nested more than {} deep, which no file of assay is", max_json_depth));
    }
    return true;
  };
  try {
    return json::parse(text, check_depth);
  } catch (const json::parse_error& wrong) {
    if (wrong.byte > text.size()) throw UsageError("the JSON is cut off: its end is missing");
    throw UsageError(position_of(text, std::max<std::size_t>(wrong.byte, 1) - 1) + ": not JSON");
  } catch (const json::exception&) {  // valid JSON can have no other error
    throw UsageError("the JSON has a number that is out of range");
  }
}

JsonObject::JsonObject(const json& json) : json_(json) {
  if (!json_.is_object()) throw UsageError("the JSON must be an object");
}

const json* JsonObject::find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonObject::present(const char* key) const {
  const json* const value = find(key);
  if (value == nullptr) throw UsageError(fmt::format("'{}' is missing", key));
  return *value;
}

void JsonObject::read(const char* key, const json& value, std::string& field) {
  if (!value.is_string()) refuse(key, "text");
  field = value.get<std::string>();
}

void JsonObject::read(const char* key, const json& value, bool& field) {
  if (!value.is_boolean()) refuse(key, "true or false");
  field = value.get<bool>();
}

void JsonObject::read(const char* key, const json& value, int& field) {
  read_whole(key, value, field);
}

void JsonObject::read(const char* key, const json& value, std::int64_t& field) {
  read_whole(key, value, field);
}

void JsonObject::read(const char* key, const json& value, std::uint64_t& field) {
  read_whole(key, value, field);
}

void JsonObject::read(const char* key, const json& value, double& field) {
  if (!value.is_number()) refuse(key, "a number");
  field = value.get<double>();
}

void JsonObject::read(const char* key, const json& value, std::vector<std::string>& field) {
  const auto is_text = [](const json& element) { return element.is_string(); };
  if (!value.is_array() || !std::ranges::all_of(value, is_text)) refuse(key, "a list of texts");
  field = value.get<std::vector<std::string>>();
}

}  // namespace assay
