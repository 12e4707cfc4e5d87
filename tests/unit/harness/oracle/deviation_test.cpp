// Outputs that a declared deviation lets pass, and outputs that it does not.
#include "harness/oracle/deviation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

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
  const std::array table{Deviation{
      .id = "relu-nan", .library = "oneDNN", .before = "3", .op = "relu", .dtypes = {DType::f32}}};
  EXPECT_EQ(declared_for(table, relu, "oneDNN 2.6.3").size(), 1U);
  EXPECT_TRUE(declared_for(table, relu, "oneDNN 3.1").empty());
  EXPECT_TRUE(declared_for(table, relu, "OpenMP loop").empty());
  EXPECT_TRUE(declared_for(table, exp, "oneDNN 2.6.3").empty());
  EXPECT_TRUE(declared_for(table, relu_f64, "oneDNN 2.6.3").empty());
}

/// Returns y after declared values of relu have been put right.
std::vector<float> put_right(const Deviation& deviation, const std::vector<float>& x,
                             const std::vector<float>& y, oracle::Seen& seen) {
  oracle::Example relu("tensor_ops/relu/f32/n=" + std::to_string(x.size()));
  relu.set<float>(0, x);
  HostTensor output(relu.op.signature.outputs[0]);
  std::ranges::copy(y, output.as<float>().begin());
  std::vector<oracle::Seen> all{{&deviation}};
  oracle::put_right(reference::find(relu.op), {relu.op, relu.inputs}, {}, 0, output, all);
  seen = all[0];
  return {output.as<float>().begin(), output.as<float>().end()};
}

TEST(Deviations, OnlyTheDeclaredValueAtTheDeclaredPlacesIsPutRight) {
  constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();
  oracle::Seen seen{};
  const Deviation zero_for_nan{.where = Deviation::Where::expected_nan, .value = 0};
  const auto left =
      put_right(zero_for_nan, {f32_nan, f32_nan, 1, f32_nan}, {0, 7, 0, f32_nan}, seen);
  EXPECT_TRUE(std::isnan(left[0]));
  EXPECT_EQ(left[1], 7) << "another value";
  EXPECT_EQ(left[2], 0) << "another place";
  EXPECT_EQ(seen.places, 3);
  EXPECT_EQ(seen.deviating, 1);

  const Deviation for_two{.where = Deviation::Where::argument_is, .argument = 2, .value = 5};
  EXPECT_EQ(put_right(for_two, {2, 3, 2}, {5, 5, 2}, seen), (std::vector<float>{2, 5, 2}));
  EXPECT_EQ(seen.deviating, 1);

  const Deviation flushed{.where = Deviation::Where::argument_subnormal, .value = 0};
  EXPECT_EQ(put_right(flushed, {1e-40F, 1, 0}, {0, 0, 0}, seen),
            (std::vector<float>{1e-40F, 0, 0}));
  EXPECT_EQ(seen.places, 1) << "zero itself is not subnormal";
}

/// Runs relu on a simulated device that drops NaN if `faulty`. `table` may declare that.
Record relu_that_drops_nan(std::span<const Deviation> table, bool faulty = true) {
  Backends backends;
  backends.add(sim::make_backend(1, faulty ? std::vector{sim::parse_fault("nan_dropped,op=relu")}
                                           : std::vector<sim::Fault>{}));
  Engine engine(backends, {.seed = 1, .deviations = table});
  return engine.execute(planned("tensor_ops/relu/f32/n=1003", {{"sim", 0}}), [] {}).record;
}

TEST(Deviations, ARowThatDeviatesAsDeclaredPassesAndSaysSo) {
  const std::string implementation = relu_that_drops_nan({}).implementation;
  std::array table{Deviation{.id = "relu-nan",
                             .library = implementation,
                             .op = "relu",
                             .dtypes = {DType::f32},
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
std::vector<float> put_right_over_ranks(const std::string& reduce,
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
  oracle::put_right(reference::find(example.op), {example.op, example.inputs}, {}, 0, output, all);
  seen = all[0];
  return {output.as<float>().begin(), output.as<float>().end()};
}

TEST(Deviations, OfNanAndNumbersOverRanksTheExtremeOfTheNumbersIsPutRight) {
  constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> ranks{
      {f32_nan, f32_nan, f32_nan, 1, -0.0F}, {2, f32_nan, 5, 2, f32_nan}, {3, f32_nan, 4, 3, 0}};
  oracle::Seen seen{};
  const auto least = put_right_over_ranks("min", ranks, {2, f32_nan, 5, 1, 0}, seen);
  EXPECT_TRUE(std::isnan(least[0]));
  EXPECT_EQ(least[2], 5) << "a number, but not the least";
  EXPECT_EQ(least[3], 1) << "no NaN, no deviation";
  EXPECT_TRUE(std::isnan(least[4])) << "a zero of either sign";
  EXPECT_EQ(seen.places, 3) << "where all are NaN, NaN alone is right";
  EXPECT_EQ(seen.deviating, 2);

  const auto greatest = put_right_over_ranks("max", ranks, {3, f32_nan, 5, 3, f32_nan}, seen);
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

/// Runs `kind` on three simulated ranks whose min and max drop NaN if `faulty`. `declared` applies
/// the declaration for NCCL.
Record ranks_that_drop_nan(const std::string& kind, bool declared, bool faulty = true) {
  Backends backends;
  backends.add(sim::make_backend(
      3, faulty ? std::vector{sim::parse_fault("ranks_drop_nan")} : std::vector<sim::Fault>{}));
  std::vector<Deviation> table;
  for (Deviation deviation : declared_deviations()) {
    deviation.library = deviation.from = "";
    if (declared && deviation.op == "allreduce") table.push_back(deviation);
  }
  Engine engine(backends, {.seed = 1, .deviations = table});
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
