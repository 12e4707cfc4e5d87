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
