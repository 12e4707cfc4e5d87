#include "reports/page/wrong_pattern.h"

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::page {
namespace {

constexpr std::size_t max_length = 90;

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Returns the bits of a number of a floating-point dtype. Those of short dtypes are where a float
/// has them: a changed bit of the significand is one here too.
std::optional<std::uint64_t> bits_of(const Record& trial, double value) {
  struct Format {
    std::string_view dtype;
    int unused_bits;  // of a float's significand
  };
  constexpr std::array<Format, 5> formats{
      {{"f32", 0}, {"bf16", 16}, {"f16", 13}, {"e4m3", 20}, {"e5m2", 21}}};
  if (trial.dtype == "f64") return std::bit_cast<std::uint64_t>(value);
  for (const Format& format : formats) {
    if (trial.dtype != format.dtype) continue;
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> format.unused_bits;
  }
  return std::nullopt;
}

bool differ_by_one_bit(const Record& trial, double expected, double actual) {
  const auto whole_expected = number_in<std::int64_t>(trial.worst_expected);
  const auto whole_actual = number_in<std::int64_t>(trial.worst_actual);
  const bool is_integer = trial.dtype.starts_with('i') || trial.dtype.starts_with('u');
  if (is_integer && whole_expected && whole_actual) {
    return std::popcount(static_cast<std::uint64_t>(*whole_expected) ^
                         static_cast<std::uint64_t>(*whole_actual)) == 1;
  }
  const auto a = bits_of(trial, expected);
  const auto b = bits_of(trial, actual);
  return a && b && std::popcount(*a ^ *b) == 1;
}

/// The first sentence of a reason, its numbers replaced.
std::string without_numbers(const std::string& reason) {
  std::string text;
  for (const char c : reason.substr(0, reason.find_first_of(";\n\r"))) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && text.ends_with('#')) continue;
    text += is_digit ? '#' : c;
  }
  if (text.size() <= max_length) return text;
  std::size_t cut = max_length;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return text.substr(0, cut) + "…";
}

}  // namespace

std::string wrong_pattern(const Record& trial) {
  const std::string& actual_text = trial.worst_actual;
  if (class_of(trial.status) != StatusClass::wrong || !trial.worst_index) {
    // Signals are names, not sizes.
    const bool is_broken = class_of(trial.status) == StatusClass::broken;
    return is_broken ? trial.reason.substr(0, trial.reason.find_first_of(";\n\r"))
                     : without_numbers(trial.reason);
  }
  if (actual_text.find("nan") != std::string::npos) return "NaN where a number belongs";
  if (actual_text.find("inf") != std::string::npos) return "infinity where a number belongs";
  const auto expected = number_in<double>(trial.worst_expected);
  const auto actual = number_in<double>(actual_text);
  if (!expected || !actual) return without_numbers(trial.reason);
  if (*actual == 0 && *expected != 0) return "zero where a value belongs";
  if (*actual == -*expected) return "the sign flipped";
  if (differ_by_one_bit(trial, *expected, *actual)) return "one bit off";
  if (trial.max_bound_ratio.value_or(0) > 1) return "errors beyond the allowed one";
  return "other values";
}

}  // namespace assay::page
