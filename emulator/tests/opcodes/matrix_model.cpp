#include "emulator/tests/opcodes/matrix_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "emulator/numbers/number.h"

namespace emulator::test {
namespace {

const FloatFormat* format_of(const std::string& type) {
  return type == "f16"    ? &binary16
         : type == "bf16" ? &bfloat16
         : type == "e4m3" ? &e4m3
         : type == "e5m2" ? &e5m2
                          : nullptr;
}

/// The exponent of a normal number, or of the smallest one.
int exponent(double value, int min_exponent) { return std::max(std::ilogb(value), min_exponent); }

int min_exponent(const std::string& type) {
  const FloatFormat* format = format_of(type);
  return format != nullptr ? format->min_exponent() : -126;
}

}  // namespace

std::size_t matrix_bytes(const std::string& type) {
  if (type == "f64") return 8;
  if (type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2") return 1;
  return type == "f16" || type == "bf16" ? 2 : 4;
}

std::uint64_t matrix_bits(const std::string& type, double value) {
  if (const FloatFormat* format = format_of(type)) return encode(value, *format);
  if (type == "f64") return std::bit_cast<std::uint64_t>(value);
  if (type == "f32" || type == "tf32")
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return bits & ((std::uint64_t{1} << (8 * matrix_bytes(type))) - 1);
}

double matrix_value(const std::string& type, std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  if (const FloatFormat* format = format_of(type)) return decode(word, *format);
  if (type == "tf32") return std::bit_cast<float>(word & 0xffffe000U);
  if (type == "f32") return std::bit_cast<float>(word);
  throw std::invalid_argument(type);
}

double unit_sum(const UnitModel& model, const std::vector<double>& x, const std::string& x_type,
                const std::vector<double>& y, const std::string& y_type, double c, bool to_f16) {
  for (std::size_t begin = 0; begin < x.size(); begin += static_cast<std::size_t>(model.terms)) {
    const std::size_t end = std::min(x.size(), begin + static_cast<std::size_t>(model.terms));
    int largest =
        c == 0 ? model.lowest_exponent : std::max(exponent(c, -126), model.lowest_exponent);
    for (std::size_t l = begin; l < end; ++l)
      if (x[l] != 0 && y[l] != 0)
        largest = std::max(
            largest, exponent(x[l], min_exponent(x_type)) + exponent(y[l], min_exponent(y_type)));
    const auto cut = [&](double value) {
      return std::trunc(std::ldexp(value, model.fraction_bits - largest));
    };
    double sum = cut(c);
    for (std::size_t l = begin; l < end; ++l) sum += cut(x[l] * y[l]);
    sum = std::ldexp(sum, largest - model.fraction_bits);
    if (to_f16) {
      c = decode(encode(sum, binary16), binary16);
    } else if (sum == 0) {
      c = 0;
    } else {
      const int unit = exponent(sum, -126) - model.result_fraction_bits;
      c = std::ldexp(std::trunc(std::ldexp(sum, -unit)), unit);
    }
  }
  return c;
}

}  // namespace emulator::test
