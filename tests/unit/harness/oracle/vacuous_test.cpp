// Outputs that an oracle would accept although they took no computing.
#include "harness/oracle/vacuous.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/execute/verify_launch.h"
#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

using Names = std::vector<std::string>;

/// Returns the decoys found in the first pass, over the example's inputs and a right output.
Names found(Example& example, const HostTensor& right, std::byte poison = std::byte{0xff}) {
  const auto reference = reference::find(example.op);
  const reference::Problem problem{example.op, example.inputs};
  const reference::State state = reference::solve(reference, problem);
  return decoys(reference, problem, state, tolerance(passes(example.op).at(0).rule, example.op),
                right.bytes(), poison);
}

/// Returns the decoys found for y = a + b.
Names found_by_addition(const std::vector<float>& a, const std::vector<float>& b) {
  Example add("tensor_ops/add/f32/n=" + std::to_string(a.size()));
  add.set<float>(0, a).set<float>(1, b);
  HostTensor right(add.op.signature.outputs[0]);
  for (std::size_t i = 0; i < a.size(); ++i) right.as<float>()[i] = a[i] + b[i];
  return found(add, right);
}

std::vector<float> rising(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

TEST(Vacuous, NothingIsFoundOnDataThatTell) {
  EXPECT_EQ(found_by_addition(rising(3000), rising(3000)), Names{});
}

TEST(Vacuous, ZerosWouldPassOnZeros) {
  const std::vector<float> zeros(100);
  EXPECT_EQ(found_by_addition(zeros, zeros),
            (Names{"zeros", "their mean", "input 0", "the output shifted by an element"}));
}

TEST(Vacuous, TheInputWouldPassWhereNothingIsAdded) {
  EXPECT_EQ(found_by_addition(rising(100), std::vector<float>(100)), Names{"input 0"});
}

TEST(Vacuous, AShiftWouldPassOnLikeElements) {
  EXPECT_EQ(found_by_addition(std::vector<float>(100, 1), std::vector<float>(100, 2)),
            (Names{"their mean", "the output shifted by an element"}));
}

TEST(Vacuous, OneElementThatTellsIsEnoughAnywhere) {
  for (const std::size_t at : {0U, 2500U, 5000U, 8000U, 9999U}) {
    std::vector<float> a(10000);
    a[at] = 1;
    EXPECT_EQ(found_by_addition(a, a), Names{}) << at;
  }
}

TEST(Vacuous, PoisonWouldPassWhereItIsTheResult) {
  Example less("tensor_ops/less/f32/n=100");
  less.set<float>(0, std::vector<float>(100, 1)).set<float>(1, std::vector<float>(100, 2));
  HostTensor right(less.op.signature.outputs[0]);
  std::ranges::fill(right.bytes(), std::byte{1});
  EXPECT_EQ(found(less, right, std::byte{1}),
            (Names{"poison", "the output shifted by an element"}));
}

TEST(Vacuous, NotAskedWhereItIsRightByDefinition) {
  Example copy("tensor_ops/copy/f32/n=100");
  copy.set<float>(0, rising(100));
  HostTensor same(copy.op.signature.outputs[0]);
  std::ranges::copy(copy.inputs[0][0].bytes(), same.bytes().begin());
  EXPECT_EQ(found(copy, same), Names{});

  Example fill("tensor_ops/fill/f32/n=100");
  fill.set<float>(0, {0});
  HostTensor zeros(fill.op.signature.outputs[0]);
  std::ranges::fill(zeros.bytes(), std::byte{0});
  EXPECT_EQ(found(fill, zeros), Names{});
}

TEST(Vacuous, ANumberOfFewElementsMayBeZeroButNotASum) {
  EXPECT_EQ(found_by_addition({1, 2}, {-1, -2}), Names{});
  Example sum("tensor_ops/sum/f32/n=100");
  sum.set<float>(0, std::vector<float>(100));
  HostTensor zero(sum.op.signature.outputs[0]);
  zero.as<float>()[0] = 0;
  EXPECT_EQ(found(sum, zero), Names{"zeros"});
}

TEST(Vacuous, WhatPassesOnlyOneOfTheLaunchesShowsNothing) {
  Findings findings;
  findings.keep_decoys(0, {"zeros", "input 0"});
  findings.keep_decoys(0, {"input 0", "poison"});
  EXPECT_EQ(findings.decoy(), "input 0");
  // Nothing passes for another output, which is too small to tell.
  findings.keep_decoys(1, {});
  EXPECT_EQ(findings.decoy(), "input 0 as output 0");
  findings.keep_decoys(0, {});
  EXPECT_EQ(findings.decoy(), "");
}

}  // namespace
}  // namespace assay::oracle
