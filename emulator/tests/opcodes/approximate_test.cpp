#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/float_reference.h"

// PTX ISA: ex2, lg2, sin, cos, rcp, rsqrt, sqrt and div with .approx. By default the emulator
// rounds correctly; with Settings::approximate it stays within the documented maximum error.
namespace emulator::test {
namespace {

using Function = long double (*)(long double);

// The documented error of a result, given the operand and the exact value.
struct Bound {
  long double absolute, relative;
};
using BoundOf = Bound (*)(long double x, long double value);

struct Approximation {
  std::string opcode;
  Function compute;
  BoundOf bound;
  bool optional = false;
};

constexpr long double two_pi = 6.283185307179586476925286766559L;
// Half a unit in the last place, which rounding the bound itself to f32 may add.
constexpr long double slack = 0x1p-24L;

// The distance of f32 numbers at the one nearest to the value; just below a power of two, that
// above it, as an error of some units leads there.
long double ulp(long double value) {
  const long double nearest = to_long_double(f32, from_long_double(f32, value));
  const long double beyond = (std::isfinite(nearest) ? nearest : value) * (1 + 0x1p-21L);
  const int exponent = std::max(std::ilogb(beyond), -126);
  return std::exp2(static_cast<long double>(exponent - 23));
}

// "The maximum ulp error is 2 ulp from correctly rounded result", which is half of one away.
Bound of_ex2(long double, long double value) { return {2.5L * ulp(value), 0}; }

// "The maximum ulp error is 1 across the full range of inputs."
Bound of_rcp(long double, long double value) { return {1.5L * ulp(value), 0}; }

// "max absolute error of 2^-22 when the input operand is in the range (0.5, 2) ... else max
// relative error 2^-22".
Bound of_lg2(long double x, long double) {
  if (x > 0.5L && x < 2) return {0x1p-22L + slack, slack};
  return {0, 0x1p-22L + slack};
}

// "2^-20.5 in the quadrant range [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]"; nothing beyond.
Bound of_sine(long double x, long double) {
  if (std::fabs(x) <= two_pi) return {std::exp2(-20.5L) + slack, 0};
  if (std::fabs(x) <= 50 * two_pi) return {std::exp2(-14.7L) + slack, 0};
  return {2, 0};
}

long double reciprocal(long double x) { return 1 / x; }
long double reciprocal_root(long double x) { return 1 / std::sqrt(x); }

const std::vector<Approximation>& approximations() {
  static const std::vector<Approximation> table{
      {"ex2.approx", [](long double x) { return std::exp2(x); }, of_ex2},
      {"lg2.approx", [](long double x) { return std::log2(x); }, of_lg2},
      {"sin.approx", [](long double x) { return std::sin(x); }, of_sine},
      {"cos.approx", [](long double x) { return std::cos(x); }, of_sine},
      {"rcp.approx", reciprocal, of_rcp},
      {"sqrt.approx", [](long double x) { return std::sqrt(x); },
       [](long double, long double) {
         return Bound{0, 0x1p-23L + slack};
       }},
      {"rsqrt.approx", reciprocal_root, [](long double, long double) {
         return Bound{0, std::exp2(-22.9L) + slack};
       }}};
  return table;
}

// Huge arguments of sin and cos have no documented error; the default still rounds correctly.
Row row_of(const Approximation& each, bool ftz, bool approximate) {
  const Modifiers modifiers{.ftz = ftz};
  const Reference correct = float_reference(f32, modifiers, [&each](const std::uint64_t* x) {
    return from_long_double(f32, each.compute(to_long_double(f32, x[0])));
  });
  return {each.opcode + (ftz ? ".ftz" : "") + ".f32 %d, %a;",
          "f32",
          {"f32"},
          [=, &each](std::span<const std::uint64_t> x) {
            const Expected expected = correct(x);
            const long double operand = to_long_double(f32, ftz ? f32.flushed(x[0]) : x[0]);
            const bool pole = !std::isfinite(operand) || operand == 0;
            if (!approximate || expected.any_nan || pole) return expected;
            const long double value = each.compute(operand);
            const Bound bound = each.bound(operand, value);
            return Expected::within(value, bound.absolute + (ftz ? 0x1p-126L : 0x1p-149L),
                                    bound.relative);
          },
          each.optional};
}

std::vector<Row> rows_of(bool approximate) {
  std::vector<Row> rows;
  for (const Approximation& each : approximations()) {
    for (const bool ftz : {false, true}) rows.push_back(row_of(each, ftz, approximate));
  }
  return rows;
}

TEST(Approximate, RoundsCorrectlyByDefault) { check(rows_of(false)); }

TEST(Approximate, StaysWithinTheDocumentedError) { check(rows_of(true), true); }

// Moderate arguments, where results are neither 0 nor 1: 3000 draws seldom hit them.
TEST(Approximate, OnModerateArguments) {
  for (const bool approximate : {false, true}) {
    std::vector<Row> rows;
    for (const char* opcode : {"ex2.approx.ftz.f32", "sin.approx.f32", "cos.approx.f32"}) {
      const std::string name(opcode);
      const Approximation& each = approximations()[name[0] == 'e' ? 0 : name[0] == 's' ? 2 : 3];
      const auto operand = [](std::uint64_t x) {
        const auto n = static_cast<std::int32_t>(x);
        return static_cast<long double>(n) * 0x1p-26L;  // [-32, 32)
      };
      rows.push_back({"cvt.rn.f32.s32 %d, %a; mul.rn.f32 %d, %d, 0f32800000; " + name + " %d, %d;",
                      "f32",
                      {"s32"},
                      [=, &each](std::span<const std::uint64_t> x) {
                        const std::uint64_t rounded = from_long_double(f32, operand(x[0]));
                        const long double argument = to_long_double(f32, rounded);
                        const long double value = each.compute(argument);
                        if (!approximate) return Expected(from_long_double(f32, value));
                        const Bound bound = each.bound(argument, value);
                        return Expected::within(value, bound.absolute, bound.relative);
                      }});
    }
    check(rows, approximate);
  }
}

// An approximate mode that adds nothing would let code pass that relies on exact results.
TEST(Approximate, ModeChangesSomeResults) {
  int changed = 0;
  const Approximation& each = approximations()[0];
  Row row = row_of(each, true, false);
  const Reference reference = row.reference;
  row.reference = [&](std::span<const std::uint64_t> x) { return reference(x); };
  ::testing::TestPartResultArray failures;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    check({row}, true);
  }
  for (int i = 0; i < failures.size(); ++i)
    changed += failures.GetTestPartResult(i).failed() ? 1 : 0;
  EXPECT_GT(changed, 0);
}

/// Powers of 2 of the numbers of threads over `steps`, as a launch with this seed gives them.
std::vector<float> powers(std::uint64_t seed, const char* steps) {
  Device device;
  Kernels kernels(
      device, module_head() +
                  kernel({"out"}, std::string("cvt.rn.f32.u32 %f1, %r0; mul.rn.f32 ") +
                                      "%f1, %f1, " + steps + "; ex2.approx.ftz.f32 %f1, %f1;\n" +
                                      element("%out", 4) + "st.global.f32 [%l31], %f1;\n"));
  kernels.settings.approximate = true;
  kernels.settings.seed = seed;
  const std::uintptr_t out = device.allocate(64 * sizeof(float));
  kernels.run("test", {.grid = {1}, .block = {64}}, out);
  return device.download<float>(out, 64);
}

// A GPU errs, but alike in each launch: the seed decides only in which order its threads run.
TEST(Approximate, ResultsRepeat) {
  const auto first = powers(1, "0f3DCCCCCD");  // tenths
  EXPECT_EQ(first, powers(2, "0f3DCCCCCD"));
}

TEST(Approximate, PowersOfIntegersAreExact) {
  const auto whole = powers(1, "0f3F800000");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(whole[static_cast<std::size_t>(i)], std::exp2(float(i)));
}

// "extracts the most-significant 32 bits ..., computes an approximate reciprocal using the most
// significant 20 bits of the mantissa, zeroes the least significant 32 mantissa bits"; subnormals
// are flushed.
TEST(Approximate, ReciprocalOfADouble) {
  check({{"rcp.approx.ftz.f64 %d, %a;",
          "f64",
          {"f64"},
          [](std::span<const std::uint64_t> x) {
            // "Input NaNs map to a canonical NaN"; one that only the lower word tells from an
            // infinity may count as either.
            const std::uint64_t canonical = 0x7FFFFFFF00000000;
            if (f64.is_nan(x[0] & 0xFFFFFFFF00000000)) return Expected(canonical);
            if (f64.is_nan(x[0])) return Expected::either(canonical, x[0] & f64.sign());
            const std::uint64_t cut = f64.flushed(x[0]) & 0xFFFFFFFF00000000;
            const std::uint64_t sign = x[0] & f64.sign();
            if (f64.is_subnormal(x[0]) || f64.is_zero(cut)) return Expected(f64.infinity() | sign);
            const std::uint64_t exact = divide(f64, f64.one(), cut, Rounding::nearest_even);
            // Results at or below the smallest normal number may count as subnormal.
            if (f64.magnitude(exact) <= f64.min_normal()) return Expected::either(sign, exact);
            return Expected::within(to_long_double(f64, exact), 0, 0x1p-20L);
          }},
         {"{ .reg .f64 r; rcp.approx.ftz.f64 r, %a; mov.b64 %d, r; and.b64 %d, %d, 0xFFFFFFFF; }",
          "u64",
          {"f64"},
          [](std::span<const std::uint64_t> x) {
            return f64.is_nan(x[0]) ? Expected::anything() : Expected(0);
          }}});
}

// "For b in [2^-126, 2^126], the maximum ulp error is 2"; where |b| is in (2^126, 2^128), .approx
// may deliver 0, or NaN for an infinite a. div.full has 2 ulp everywhere.
Row division_row(const std::string& opcode, bool approximate) {
  const bool ftz = opcode.find("ftz") != std::string::npos;
  const bool full = opcode.find("full") != std::string::npos;
  const Reference correct = float_reference(f32, {.ftz = ftz}, [](const std::uint64_t* x) {
    return divide(f32, x[0], x[1], Rounding::nearest_even);
  });
  return {opcode + " %d, %a, %b;", "f32", {"f32", "f32"}, [=](std::span<const std::uint64_t> x) {
            const Expected expected = correct(x);
            if (!full && f32.magnitude(x[1]) > 0x7E800000) return Expected::anything();
            const std::uint64_t a = ftz ? f32.flushed(x[0]) : x[0];
            const std::uint64_t b = ftz ? f32.flushed(x[1]) : x[1];
            const bool pole =
                f32.is_infinite(a) || f32.is_infinite(b) || f32.is_zero(a) || f32.is_zero(b);
            if (!approximate || expected.any_nan || pole) return expected;
            const long double value = to_long_double(f32, a) / to_long_double(f32, b);
            return Expected::within(value, 2.5L * ulp(value) + (ftz ? 0x1p-126L : 0), 0);
          }};
}

TEST(Approximate, Division) {
  for (const bool approximate : {false, true}) {
    std::vector<Row> rows;
    for (const char* opcode :
         {"div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"}) {
      rows.push_back(division_row(opcode, approximate));
    }
    check(rows, approximate);
  }
}

// The 64-bit rsqrt and the hyperbolic tangent have no rounding of their own.
TEST(Approximate, OptionalNeighbours) {
  check({{"rsqrt.approx.f64 %d, %a;",
          "f64",
          {"f64"},
          [](std::span<const std::uint64_t> x) {
            if (f64.is_nan(x[0])) return Expected::nan();
            if (f64.is_zero(x[0])) return Expected(f64.infinity() | (x[0] & f64.sign()));
            if (f64.is_subnormal(x[0])) return Expected::anything();
            if (f64.is_negative(x[0])) return Expected::nan();
            if (f64.is_infinite(x[0])) return Expected(0);
            return Expected::within(reciprocal_root(to_long_double(f64, x[0])), 0, 0x1p-44L);
          },
          true},
         {"tanh.approx.f32 %d, %a;",
          "f32",
          {"f32"},
          [](std::span<const std::uint64_t> x) {
            if (f32.is_nan(x[0])) return Expected::nan();
            return Expected::within(std::tanh(to_long_double(f32, x[0])), 0, 0x1p-10L);
          },
          true}});
}

}  // namespace
}  // namespace emulator::test
