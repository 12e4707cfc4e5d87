#include "emulator/tests/opcodes/exact.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>

#include "emulator/tests/opcodes/operand.h"

// The oracle against the host's own IEEE 754 arithmetic, in all four rounding modes.
namespace emulator::test {
namespace {

struct Mode {
  Rounding rounding;
  int host_mode;
};

constexpr Mode modes[] = {{Rounding::nearest_even, FE_TONEAREST},
                          {Rounding::toward_zero, FE_TOWARDZERO},
                          {Rounding::down, FE_DOWNWARD},
                          {Rounding::up, FE_UPWARD}};

// The compiler must neither fold nor move arithmetic across the change of mode.
template <class T, class Function>
T in_mode(int mode, Function function, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = function(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T, class Bits>
void compare(Format format, const char* type) {
  const auto number = [](std::uint64_t x) { return std::bit_cast<T>(static_cast<Bits>(x)); };
  for (const auto& tuple : operand_tuples({type, type, type}, 7)) {
    const std::uint64_t a = tuple[0], b = tuple[1], c = tuple[2];
    if (format.is_nan(a) || format.is_nan(b) || format.is_nan(c)) continue;
    for (const Mode& each : modes) {
      const Rounding rounding = each.rounding;
      const auto expect = [&](std::uint64_t result, auto function) {
        const auto host =
            std::bit_cast<Bits>(in_mode(each.host_mode, function, number(a), number(b), number(c)));
        if (format.is_nan(host)) {
          EXPECT_TRUE(format.is_nan(result));
        } else {
          EXPECT_EQ(result, host) << std::hex << a << " " << b << " " << c << " mode "
                                  << each.host_mode;
        }
      };
      expect(add(format, a, b, rounding), [](T x, T y, T) { return x + y; });
      expect(multiply(format, a, b, rounding), [](T x, T y, T) { return x * y; });
      expect(divide(format, a, b, rounding), [](T x, T y, T) { return x / y; });
      expect(fma(format, a, b, c, rounding), [](T x, T y, T z) { return std::fma(x, y, z); });
      expect(square_root(format, a, rounding), [](T x, T, T) { return std::sqrt(x); });
    }
  }
}

TEST(Exact, SingleIsTheHosts) { compare<float, std::uint32_t>(f32, "f32"); }

TEST(Exact, DoubleIsTheHosts) { compare<double, std::uint64_t>(f64, "f64"); }

TEST(Exact, ConvertsBetweenFormats) {
  for (const auto& tuple : operand_tuples({"f64"}, 7)) {
    if (f64.is_nan(tuple[0]) || f64.is_infinite(tuple[0])) continue;
    for (const auto& [rounding, mode] : modes) {
      const volatile double x = std::bit_cast<double>(tuple[0]);
      std::fesetround(mode);
      const volatile float host = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(round(f32, decode(f64, tuple[0]), rounding),
                std::bit_cast<std::uint32_t>(float{host}));
    }
    EXPECT_EQ(from_long_double(f64, to_long_double(f64, tuple[0])), tuple[0]);
  }
}

}  // namespace
}  // namespace emulator::test
