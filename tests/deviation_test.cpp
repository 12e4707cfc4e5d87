// What a declared deviation lets pass, and what not.
#include "harness/oracle/deviation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/sim/fault.h"
#include "tests/engine_support.h"
#include "tests/example.h"

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

TEST(Deviations, MayBeOfOneKindOfKernelAlone) {
  const OpInstance relu = parse_case_id("tensor_ops/relu/f32/n=3").op;
  const std::array table{
      Deviation{.library = "oneDNN", .kind = "amx", .op = "relu", .dtypes = {DType::f32}}};
  EXPECT_EQ(declared_for(table, relu, "oneDNN 2.6.3 brg:avx512_core_bf16_amx_int8").size(), 1U);
  EXPECT_TRUE(declared_for(table, relu, "oneDNN 2.6.3 brg:avx512_core").empty());
}

/// What is left of y after declared values of relu have been put right.
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

/// What is left of y = x w^T, and how many places of it there were.
std::vector<float> put_right_product(const std::string& case_id, const std::vector<float>& a,
                                     const std::vector<float>& b, const std::vector<float>& y,
                                     std::int64_t& places) {
  oracle::Example product(case_id);
  product.set<float>(0, a).set<float>(1, b);
  HostTensor output(product.op.signature.outputs[0]);
  std::ranges::copy(y, output.as<float>().begin());
  const Deviation flushed{.where = Deviation::Where::infinity_by_subnormal, .value = nan};
  std::vector<oracle::Seen> seen{{&flushed}};
  const auto reference = reference::find(product.op);
  const reference::Problem problem{product.op, product.inputs};
  oracle::put_right(reference, problem, reference::solve(reference, problem), 0, output, seen);
  places = seen[0].places;
  return {output.as<float>().begin(), output.as<float>().end()};
}

TEST(Deviations, AnInfinityThatMeetsASubnormalFactorMakesNoOtherElementRight) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  constexpr float subnormal = 1e-40F;
  std::int64_t places = 0;
  // Rows of weights: infinity times a subnormal, infinity times 1, infinity times 0 (NaN by right).
  const std::vector<float> x{inf, 1, 1, 1};
  const std::vector<float> w{subnormal, 1, 1, 1, 0, 1};
  const std::vector<float> flushed{not_a_number, not_a_number, not_a_number, 1, 2, 1};
  auto left =
      put_right_product("linear/f32/batch=2,in=2,out=3,bias=0,act=none", x, w, flushed, places);
  EXPECT_EQ(left[0], inf) << "as declared";
  EXPECT_TRUE(std::isnan(left[1])) << "no subnormal is near";
  EXPECT_TRUE(std::isnan(left[2])) << "right as it is";
  EXPECT_EQ(places, 1);

  // The same numbers as matrices, the second of two with its factors the other way round.
  left = put_right_product("tensor_ops/batched_matmul/f32/batch=2,m=1,n=2,k=2",
                           {inf, 1, 1, subnormal}, {subnormal, 1, 1, 1, 1, 1, inf, 2},
                           {not_a_number, inf, not_a_number, not_a_number}, places);
  EXPECT_EQ(left[0], inf);
  EXPECT_EQ(left[1], inf);
  EXPECT_EQ(left[2], inf);
  EXPECT_TRUE(std::isnan(left[3])) << "2 times a subnormal";
  EXPECT_EQ(places, 2);
}

/// A simulated device whose relu drops NaN, with that declared or not.
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

}  // namespace
}  // namespace assay
