#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Depth limit, far above any file or message of Assay. The library copies, prints and compares
/// values by recursion, so deeper ones could exhaust the stack.
inline constexpr int max_json_depth = 64;

/// Parses JSON from any source. Throws UsageError that says where and why it is invalid, in words
/// of this program: "line 3, column 5: ...".
nlohmann::json parse_json(std::string_view text);

/// Reads the keys of a JSON object as fields. Throws UsageError that names the key.
class JsonObject {
 public:
  /// `json` must outlive it.
  explicit JsonObject(const nlohmann::json& json);

  /// Null if the key is absent or its value is null.
  const nlohmann::json* find(const char* key) const;

  /// All keys with their values, for a range-based for.
  auto items() const { return json_.items(); }

  /// Keeps the field if the key is absent or null.
  template <class T>
  void get(const char* key, T& field) const {
    if (const nlohmann::json* const value = find(key)) read(key, *value, field);
  }

  /// Reads a required key.
  template <class T>
  void need(const char* key, T& field) const {
    read(key, present(key), field);
  }

 private:
  const nlohmann::json& present(const char* key) const;
  static void read(const char* key, const nlohmann::json& value, std::string& field);
  static void read(const char* key, const nlohmann::json& value, bool& field);
  static void read(const char* key, const nlohmann::json& value, int& field);
  static void read(const char* key, const nlohmann::json& value, std::int64_t& field);
  static void read(const char* key, const nlohmann::json& value, std::uint64_t& field);
  static void read(const char* key, const nlohmann::json& value, double& field);
  static void read(const char* key, const nlohmann::json& value, std::vector<std::string>& field);

  const nlohmann::json& json_;
};

}  // namespace assay
