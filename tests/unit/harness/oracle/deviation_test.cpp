// Outputs that a declared deviation lets pass, and outputs that it does not.
#include "harness/oracle/deviation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/oracle/number.h"
#include "kernels/sim/fault.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/example.h"

namespace assay {
namespace {

using oracle::declared_for;
using oracle::is_version_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Deviations, VersionsAreComparedByNumbers) {
  EXPECT_TRUE(is_version_of("oneDNN 2.6.3 jit:avx2", "2.6", "3"));
  EXPECT_TRUE(is_version_of("oneDNN v2.10", "2.9", ""));
  EXPECT_FALSE(is_version_of("oneDNN 3.0", "2.6", "3"));
  EXPECT_FALSE(is_version_of("oneDNN 2.5.9", "2.6", ""));
  EXPECT_TRUE(is_version_of("loop avx2", "", ""));
  EXPECT_FALSE(is_version_of("loop avx2", "1", "")) << "a digit within a word is no version";
}

TEST(Deviations, AreThoseOfLibraryVersionOpAndDtype) {
  const OpInstance relu = parse_case_id("tensor_ops/relu/f32/n=3").op;
  const OpInstance exp = parse_case_id("tensor_ops/exp/f32/n=3").op;
  const OpInstance relu_f64 = parse_case_id("tensor_ops/relu/f64/n=3").op;
  const std::array table{Deviation{.id = "relu-nan",
                                   .library = "oneDNN",
                                   .before = "3",
                                   .ops = {"relu"},
                                   .formats = {DType::f32}}};
  EXPECT_EQ(declared_for(table, relu, "oneDNN 2.6.3").size(), 1U);
  EXPECT_TRUE(declared_for(table, relu, "oneDNN 3.1").empty());
  EXPECT_TRUE(declared_for(table, relu, "OpenMP loop").empty());
  EXPECT_TRUE(declared_for(table, exp, "oneDNN 2.6.3").empty());
  EXPECT_TRUE(declared_for(table, relu_f64, "oneDNN 2.6.3").empty());
}

/// Returns y after declared values of relu have been put right.
std::vector<float> accept_deviations(const Deviation& deviation, const std::vector<float>& x,
                                     const std::vector<float>& y, oracle::Seen& seen) {
  oracle::Example relu("tensor_ops/relu/f32/n=" + std::to_string(x.size()));
  relu.set<float>(0, x);
  HostTensor output(relu.op.signature.outputs[0]);
  std::ranges::copy(y, output.as<float>().begin());
  std::vector<oracle::Seen> all{{&deviation}};
  oracle::accept_deviations(reference::find(relu.op), {relu.op, relu.inputs}, {}, output, all);
  seen = all[0];
  return {output.as<float>().begin(), output.as<float>().end()};
}

TEST(Deviations, OnlyTheDeclaredValueAtTheDeclaredPlacesIsPutRight) {
  constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();
  oracle::Seen seen{};
  const Deviation zero_for_nan{.where = Deviation::Where::expected_nan, .value = 0};
  const auto left =
      accept_deviations(zero_for_nan, {f32_nan, f32_nan, 1, f32_nan}, {0, 7, 0, f32_nan}, seen);
  EXPECT_TRUE(std::isnan(left[0]));
  EXPECT_EQ(left[1], 7) << "another value";
  EXPECT_EQ(left[2], 0) << "another place";
  EXPECT_EQ(seen.places, 3);
  EXPECT_EQ(seen.deviating, 1);

  const Deviation for_two{.where = Deviation::Where::argument_is, .argument = 2, .value = 5};
  EXPECT_EQ(accept_deviations(for_two, {2, 3, 2}, {5, 5, 2}, seen), (std::vector<float>{2, 5, 2}));
  EXPECT_EQ(seen.deviating, 1);

  const Deviation flushed{.where = Deviation::Where::argument_subnormal, .value = 0};
  EXPECT_EQ(accept_deviations(flushed, {1e-40F, 1, 0}, {0, 0, 0}, seen),
            (std::vector<float>{1e-40F, 0, 0}));
  EXPECT_EQ(seen.places, 1) << "zero itself is not subnormal";
}

/// Runs relu on a simulated device that drops NaN if `faulty`. `table` may declare that.
Record relu_that_drops_nan(std::span<const Deviation> table, bool faulty = true) {
  Backends backends;
  backends.add(sim::make_backend(1, faulty ? std::vector{sim::parse_fault("nan_dropped,op=relu")}
                                           : std::vector<sim::Fault>{}));
  Engine engine(backends, {.deviations = table});
  return engine.execute(planned("tensor_ops/relu/f32/n=1003", {{"sim", 0}}), [] {}).record;
}

TEST(Deviations, ARowThatDeviatesAsDeclaredPassesAndSaysSo) {
  const std::string implementation = relu_that_drops_nan({}).implementation;
  std::array table{Deviation{.id = "relu-nan",
                             .library = implementation,
                             .ops = {"relu"},
                             .formats = {DType::f32},
                             .value = 0}};
  EXPECT_EQ(relu_that_drops_nan({}).status, Status::fail) << "not declared, or --strict";

  const Record declared = relu_that_drops_nan(table);
  EXPECT_EQ(declared.status, Status::pass);
  EXPECT_EQ(declared.reason, "deviation:relu-nan");

  const Record gone = relu_that_drops_nan(table, false);
  EXPECT_EQ(gone.status, Status::fail);
  EXPECT_NE(gone.reason.find("relu-nan was not seen at any of"), std::string::npos) << gone.reason;

  table[0].value = 1;
  EXPECT_EQ(relu_that_drops_nan(table).status, Status::fail) << "another value than declared";
}

/// Returns the output `y` of rank 0 after it has been put right, given the elements of all `ranks`.
std::vector<float> corrected_over_ranks(const std::string& reduce,
                                        const std::vector<std::vector<float>>& ranks,
                                        const std::vector<float>& y, oracle::Seen& seen) {
  oracle::Example example("allreduce/f32/reduce=" + reduce +
                          ",ranks=3,count=" + std::to_string(y.size()));
  example.inputs.resize(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    if (rank > 0) example.inputs[rank].emplace_back(example.op.signature.inputs[0]);
    std::ranges::copy(ranks[rank], example.inputs[rank][0].as<float>().begin());
  }
  HostTensor output(example.op.signature.outputs[0]);
  std::ranges::copy(y, output.as<float>().begin());
  const Deviation deviation{.where = Deviation::Where::nan_beside_numbers};
  std::vector<oracle::Seen> all{{&deviation}};
  oracle::accept_deviations(reference::find(example.op), {example.op, example.inputs}, {}, output,
                            all);
  seen = all[0];
  return {output.as<float>().begin(), output.as<float>().end()};
}

TEST(Deviations, OfNanAndNumbersOverRanksTheExtremeOfTheNumbersIsPutRight) {
  constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> ranks{
      {f32_nan, f32_nan, f32_nan, 1, -0.0F}, {2, f32_nan, 5, 2, f32_nan}, {3, f32_nan, 4, 3, 0}};
  oracle::Seen seen{};
  const auto least = corrected_over_ranks("min", ranks, {2, f32_nan, 5, 1, 0}, seen);
  EXPECT_TRUE(std::isnan(least[0]));
  EXPECT_EQ(least[2], 5) << "a number, but not the least";
  EXPECT_EQ(least[3], 1) << "no NaN, no deviation";
  EXPECT_TRUE(std::isnan(least[4])) << "a zero of either sign";
  EXPECT_EQ(seen.places, 3) << "where all are NaN, NaN alone is right";
  EXPECT_EQ(seen.deviating, 2);

  const auto greatest = corrected_over_ranks("max", ranks, {3, f32_nan, 5, 3, f32_nan}, seen);
  EXPECT_TRUE(std::isnan(greatest[0]));
  EXPECT_TRUE(std::isnan(greatest[2]));
  EXPECT_EQ(seen.deviating, 2);
}

std::vector<oracle::Seen> declared_of_nccl(const std::string& case_id, std::string_view version) {
  return declared_for(declared_deviations(), parse_case_id(case_id).op, version);
}

TEST(Deviations, NcclIsKnownToDropNanInMinAndMax) {
  const std::string params = ",ranks=3,count=1003";
  for (const std::string dtype : {"f32", "f64", "f16", "bf16"}) {
    const auto least =
        declared_of_nccl("allreduce/" + dtype + "/reduce=min" + params, "NCCL 2.28.9");
    ASSERT_EQ(least.size(), 1U) << dtype;
    EXPECT_EQ(least[0].deviation->id, "nccl-min-drops-nan");
    const auto greatest =
        declared_of_nccl("allreduce/" + dtype + "/reduce=max" + params, "NCCL 2.10.3");
    ASSERT_EQ(greatest.size(), 1U) << dtype;
    EXPECT_EQ(greatest[0].deviation->id, "nccl-max-drops-nan");
    EXPECT_TRUE(
        declared_of_nccl("allreduce/" + dtype + "/reduce=sum" + params, "NCCL 2.28.9").empty());
  }
  EXPECT_TRUE(declared_of_nccl("allreduce/i32/reduce=min" + params, "NCCL 2.28.9").empty());
  EXPECT_TRUE(declared_of_nccl("allreduce/f32/reduce=min" + params, "NCCL 2.9.9").empty())
      << "there the order of the ranks decides";
}

TEST(Deviations, SumsInSwitchesMayDifferFromLaunchToLaunch) {
  const auto declared = [](const std::string& kind, const std::string& implementation) {
    const OpInstance op = parse_case_id(kind + ",ranks=4,count=1003").op;
    EXPECT_TRUE(declared_for(declared_deviations(), op, implementation).empty());
    return oracle::launches_may_differ(declared_deviations(), op, implementation) != nullptr;
  };
  const std::string old = "NCCL 2.28.9, " + std::string(nvls_of_old_driver);
  for (const std::string dtype : {"f32", "f64", "f16", "bf16"}) {
    EXPECT_TRUE(declared("allreduce/" + dtype + "/reduce=sum", old)) << dtype;
    EXPECT_TRUE(declared("reduce_scatter/" + dtype + "/reduce=sum", old)) << dtype;
    EXPECT_FALSE(declared("allreduce/" + dtype + "/reduce=sum", "NCCL 2.28.9"));
    EXPECT_FALSE(declared("allreduce/" + dtype + "/reduce=avg", old)) << "not by switches";
  }
  EXPECT_FALSE(declared("allreduce/i32/reduce=sum", old)) << "integers have one sum";
}

/// Returns the output of an elementwise op after declared values have been put right.
template <class X, class Y>
std::vector<Y> corrected_output(const std::string& case_id, Deviation::Where where,
                                const std::vector<std::vector<X>>& inputs, const std::vector<Y>& y,
                                oracle::Seen& seen) {
  oracle::Example example(case_id + "n=" + std::to_string(y.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) example.set<X>(i, inputs[i]);
  HostTensor output(example.op.signature.outputs[0]);
  std::ranges::copy(y, output.as<Y>().begin());
  const Deviation deviation{.where = where};
  std::vector<oracle::Seen> all{{&deviation}};
  const reference::Reference reference = reference::find(example.op);
  const reference::Problem problem{example.op, example.inputs};
  const reference::State state = reference::solve(reference, problem);
  oracle::accept_deviations(reference, problem, state, output, all);
  seen = all[0];
  return {output.as<Y>().begin(), output.as<Y>().end()};
}

/// Bits of each element.
template <class T>
std::vector<std::uint64_t> bits(const std::vector<T>& values) {
  std::vector<std::uint64_t> all;
  for (const T value : values) all.push_back(oracle::bits_of(value));
  return all;
}

TEST(Deviations, RoundedThroughF32IsWhatDiffersFromOneRounding) {
  constexpr auto where = Deviation::Where::rounded_through_f32;
  oracle::Seen seen{};
  // 1 + 2^-8 is a tie of bf16. A little more is rounded up once, but down through f32.
  const double above_tie = 1 + 0x1p-8 + 0x1p-40;
  const BFloat16 one(1.0F), next(1.0078125F), other(1.015625F);
  const auto cast = corrected_output<double, BFloat16>(
      "tensor_ops/cast/f64/to=bf16,", where, {{above_tie, above_tie, above_tie, 1 + 0x1p-8, 2}},
      {one, next, other, one, one}, seen);
  EXPECT_EQ(bits(cast), bits<BFloat16>({next, next, other, one, one}));
  EXPECT_EQ(seen.places, 3) << "a tie itself is no such place";
  EXPECT_EQ(seen.deviating, 1) << "neither the right value nor a third one";

  // f32 keeps of 2^31 + 2^23 + 1 the tie alone, as it does through f64.
  constexpr std::int64_t integer = (std::int64_t{1} << 31) + (1 << 23) + 1;
  const auto of_integer = corrected_output<std::int64_t, BFloat16>(
      "tensor_ops/cast/i64/to=bf16,", where, {{integer, -integer}},
      {BFloat16(0x1p31F), BFloat16(-0x1p31F)}, seen);
  EXPECT_EQ(bits(of_integer), bits<BFloat16>({BFloat16(0x1.02p31F), BFloat16(-0x1.02p31F)}));
  EXPECT_EQ(seen.deviating, 2);

  // 17 * 17 = 289 is a tie, which f32 keeps beside 2^-32.
  const BFloat16 factor(17.0F), lower(288.0F), upper(290.0F);
  const auto fma = corrected_output<BFloat16, BFloat16>(
      "tensor_ops/fma/bf16/", where,
      {{factor, factor}, {factor, factor}, {BFloat16(0x1p-32F), BFloat16(0.0F)}}, {lower, lower},
      seen);
  EXPECT_EQ(bits(fma), bits<BFloat16>({upper, lower}));
  EXPECT_EQ(seen.places, 1);

  const auto narrow = corrected_output<double, float>("tensor_ops/cast/f64/to=f32,", where,
                                                      {{above_tie}}, {1.0F}, seen);
  EXPECT_EQ(seen.places, 0) << "f32 itself";
  EXPECT_EQ(narrow[0], 1.0F);
}

TEST(Deviations, NotSaturatedIsAnInfinityBeyondTheLargestE5M2) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto e5m2 = [](std::uint8_t code) { return oracle::from_bits<Float8E5M2>(code); };
  const Float8E5M2 largest = e5m2(0x7b), infinity = e5m2(0x7c), negative = e5m2(0xfc);
  oracle::Seen seen{};
  const auto cast = corrected_output<float, Float8E5M2>(
      "tensor_ops/cast/f32/to=e5m2,", Deviation::Where::not_saturated,
      {{61440, -1e30F, inf, 61439, 61440, 61440}},
      {infinity, negative, infinity, infinity, largest, negative}, seen);
  EXPECT_EQ(bits(cast),
            bits<Float8E5M2>({largest, e5m2(0xfb), largest, infinity, largest, negative}));
  EXPECT_EQ(seen.places, 5) << "61439 is nearer to the largest number";
  EXPECT_EQ(seen.deviating, 3);
  const Float8E4M3 most(448.0F);
  corrected_output<float, Float8E4M3>("tensor_ops/cast/f32/to=e4m3,",
                                      Deviation::Where::not_saturated, {{1e30F}}, {most}, seen);
  EXPECT_EQ(seen.places, 0) << "a format without infinities";
}

TEST(Deviations, AReciprocalOverflowsWhereTheResultIsTinyButNotZero) {
  constexpr auto where = Deviation::Where::reciprocal_overflows;
  oracle::Seen seen{};
  const auto sigmoid =
      corrected_output<float, float>("tensor_ops/sigmoid/f32/", where, {{-88, -89, -89, -89, -200}},
                                     {0, 0, 1e-40F, -0.0F, 0}, seen);
  EXPECT_EQ(sigmoid[0], 0) << "the exponential does not overflow yet";
  EXPECT_NEAR(sigmoid[1], 2.2273e-39F, 1e-42F);
  EXPECT_EQ(sigmoid[2], 1e-40F) << "another value";
  EXPECT_TRUE(std::signbit(sigmoid[3]));
  EXPECT_EQ(seen.places, 3) << "where the result is 0, 0 is right";
  EXPECT_EQ(seen.deviating, 1);
  corrected_output<double, double>("tensor_ops/sigmoid/f64/", where, {{-89, -710}}, {0, 0}, seen);
  EXPECT_EQ(seen.places, 1) << "f64 overflows later";
}

TEST(Deviations, SubnormalSquaresLoseWhatTheyAreRoundedBy) {
  constexpr auto where = Deviation::Where::squares_out_of_range;
  constexpr float x = 2e-22F;  // a square of 28.5 of the least numbers
  const auto of_norm = [&](float size, float y, oracle::Seen& seen) {
    return corrected_output<float, float>("tensor_ops/norm2/f32/", where, {{size}}, {y}, seen)[0];
  };
  oracle::Seen seen{};
  EXPECT_EQ(of_norm(x, std::sqrt(x * x), seen), x);
  EXPECT_EQ(seen.deviating, 1);
  EXPECT_EQ(of_norm(x, 2.1e-22F, seen), 2.1e-22F) << "further off than half of the least number";
  EXPECT_EQ(of_norm(x, x, seen), x);
  EXPECT_EQ(seen.places, 0) << "where it is right nothing shows";
  EXPECT_EQ(of_norm(2e-12F, 2.001e-12F, seen), 2.001e-12F) << "a square that is normal";
}

TEST(Deviations, SquaresMayOverflowJustBelowTheLimit) {
  constexpr auto where = Deviation::Where::squares_out_of_range;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto of_norm = [&](float size, float y) {
    oracle::Seen seen{};
    return corrected_output<float, float>("tensor_ops/norm2/f32/", where, {{size}}, {y}, seen)[0];
  };
  constexpr float below = 0x1.fffffep63F;
  EXPECT_EQ(of_norm(below, infinity), below) << "the square's own rounding decides";
  EXPECT_EQ(of_norm(below, below), below);
  EXPECT_EQ(of_norm(0x1p63F, infinity), infinity) << "no square overflows there";
}

TEST(Deviations, PyTorchIsKnownToComputeNarrowFloatsInF32) {
  const auto ids = [](const std::string& case_id, std::string_view version) {
    std::string all;
    for (const auto& seen :
         declared_for(declared_deviations(), parse_case_id(case_id).op, version)) {
      all += std::string(seen.deviation->id) + " ";
    }
    return all;
  };
  constexpr std::string_view debian = "PyTorch 1.13.0a0 1 thread";
  EXPECT_EQ(ids("tensor_ops/cast/f64/to=bf16,n=3", debian), "pytorch-cast-through-f32 ");
  EXPECT_EQ(ids("tensor_ops/cast/f64/to=bf16,n=3", "OpenMP loop"), "");
  EXPECT_EQ(ids("tensor_ops/cast/f64/to=e5m2,n=3", "PyTorch 2.15.0+cu132 8 threads"),
            "pytorch-cast-through-f32 pytorch-e5m2-overflows ");
  EXPECT_EQ(ids("tensor_ops/fma/bf16/n=3", debian), "pytorch-fma-through-f32 ");
  EXPECT_EQ(ids("tensor_ops/fma/f32/n=3", debian), "");
  EXPECT_EQ(ids("tensor_ops/sigmoid/f32/n=3", debian), "pytorch-sigmoid-zero ");
}

/// Runs `kind` on three simulated ranks whose min and max drop NaN if `faulty`. `declared` applies
/// the declaration for NCCL.
Record ranks_that_drop_nan(const std::string& kind, bool declared, bool faulty = true) {
  Backends backends;
  backends.add(sim::make_backend(
      3, faulty ? std::vector{sim::parse_fault("ranks_drop_nan")} : std::vector<sim::Fault>{}));
  std::vector<Deviation> table;
  for (Deviation deviation : declared_deviations()) {
    deviation.library = deviation.from = "";
    if (declared && deviation.ops.front() == "allreduce") table.push_back(deviation);
  }
  Engine engine(backends, {.deviations = table});
  return engine
      .execute(planned("allreduce/" + kind + ",ranks=3,count=1003",
                       {{"sim", 0}, {"sim", 1}, {"sim", 2}}),
               [] {})
      .record;
}

TEST(Deviations, RanksThatDropNanAsNcclDoesPassAndSaySo) {
  for (const std::string dtype : {"f32", "f64", "f16", "bf16"}) {
    for (const std::string reduce : {"min", "max"}) {
      const std::string kind = dtype + "/reduce=" + reduce;
      EXPECT_EQ(ranks_that_drop_nan(kind, false).status, Status::fail) << kind << " with --strict";
      const Record declared = ranks_that_drop_nan(kind, true);
      EXPECT_EQ(declared.status, Status::pass) << kind << ": " << declared.reason;
      EXPECT_EQ(declared.reason, "deviation:nccl-" + reduce + "-drops-nan");
      const Record gone = ranks_that_drop_nan(kind, true, false);
      EXPECT_EQ(gone.status, Status::fail) << kind;
      EXPECT_NE(gone.reason.find("was not seen at any of"), std::string::npos) << gone.reason;
    }
  }
  EXPECT_EQ(ranks_that_drop_nan("f32/reduce=sum", true, false).reason, "") << "no min, no max";
}

}  // namespace
}  // namespace assay
