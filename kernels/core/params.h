#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

/// The value of one parameter of a case: a number (n=1024) or a word (act=relu).
using ParamValue = std::variant<std::int64_t, std::string>;

std::string to_text(const ParamValue& value);

/// The parameters of one case, in the order in which its op declares them.
class Params {
 public:
  using Entry = std::pair<std::string, ParamValue>;

  void set(std::string_view name, ParamValue value);
  const ParamValue* find(std::string_view name) const;

  /// Throws std::out_of_range when absent, std::bad_variant_access when of the other kind.
  std::int64_t integer(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  /// Returns `default_value` when absent.
  std::int64_t integer_or(std::string_view name, std::int64_t default_value) const;

  const std::vector<Entry>& entries() const { return entries_; }

  /// "batch=64,in=1024", or with another separator "batch=64;in=1024".
  std::string text(std::string_view separator = ",") const;

  bool operator==(const Params&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace assay
