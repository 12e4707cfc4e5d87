// Costs of PTX instructions: machine/counts/pipe.h.
#include <gtest/gtest.h>

#include "emulator/machine/counts/pipe.h"
#include "emulator/ptx/module.h"

namespace emulator::test {
namespace {

Cost cost_of_text(const std::string& text) {
  const ptx::Module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;\n" +
          text + "\nret;\n}\n",
      "cost.ptx");
  return cost_of(ptx::parse_body(module, *module.function("k")).instructions.front());
}

void expect(const std::string& text, Pipe pipe, int instructions, int special = 0) {
  const Cost cost = cost_of_text(text);
  EXPECT_EQ(cost.pipe, pipe) << text;
  EXPECT_EQ(cost.instructions, instructions) << text;
  EXPECT_EQ(cost.special, special) << text;
}

TEST(Cost, ArithmeticIsInThePipeOfItsType) {
  expect("add.f32 %r0, %r1, %r2;", Pipe::f32, 1);
  expect("fma.rn.f16x2 %r0, %r1, %r2, %r3;", Pipe::f32, 1);
  expect("fma.rn.f64 %d0, %d1, %d2, %d3;", Pipe::f64, 1);
  expect("add.s32 %r0, %r1, %r2;", Pipe::integer, 1);
  expect("add.s64 %d0, %d1, %d2;", Pipe::integer, 2);
  expect("mul.wide.u32 %d0, %r1, %r2;", Pipe::integer, 1);
  expect("mul.lo.s64 %d0, %d1, %d2;", Pipe::integer, 4);
  expect("max.f32 %r0, %r1, %r2;", Pipe::integer, 1);
  expect("setp.lt.f32 %p0, %r1, %r2;", Pipe::integer, 1);
  expect("setp.lt.f64 %p0, %d1, %d2;", Pipe::f64, 1);
  expect("popc.b32 %r0, %r1;", Pipe::integer, 4);
  expect("ex2.approx.f32 %r0, %r1;", Pipe::special, 1);
  expect("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;", Pipe::shuffle, 1);
}

TEST(Cost, SequencesStandForMissingInstructions) {
  expect("div.rn.f32 %r0, %r1, %r2;", Pipe::f32, 8, 1);
  expect("sqrt.rn.f32 %r0, %r1;", Pipe::f32, 7, 1);
  expect("rcp.rn.f64 %d0, %d1;", Pipe::f64, 10, 1);
  expect("div.s64 %d0, %d1, %d2;", Pipe::integer, 70, 1);
  EXPECT_TRUE(cost_of_text("rem.u32 %r0, %r1, %r2;").is_division);
  EXPECT_FALSE(cost_of_text("div.rn.f32 %r0, %r1, %r2;").is_division);
}

TEST(Cost, ConversionsHaveAPipeByTheirTypes) {
  expect("cvt.f32.f16 %r0, %h0;", Pipe::convert, 1);
  expect("cvt.rn.f16x2.e4m3x2 %r0, %h0;", Pipe::convert, 1);
  expect("cvt.f64.f32 %d0, %r0;", Pipe::convert_wide, 1);
  expect("cvt.u32.u16 %r0, %h0;", Pipe::widen, 1);
  expect("cvt.s64.s32 %d0, %r0;", Pipe::integer, 1);
  expect("cvt.u32.u64 %r0, %d0;", Pipe::none, 0);
  expect("cvt.sat.s16.s32 %h0, %r0;", Pipe::convert, 1);
}

TEST(Cost, MovesBetweenRegistersAreFree) {
  expect("mov.b32 %r0, %r1;", Pipe::none, 0);
  expect("mov.b64 %d0, {%r0, %r1};", Pipe::none, 0);
  expect("mov.b32 {%h0, %h1}, %r1;", Pipe::integer, 1);
  expect("mov.u32 %r0, %tid.x;", Pipe::integer, 1);
  EXPECT_TRUE(cost_of_text("mov.b32 %r0, %r1;").moves);
}

TEST(Cost, AccessesHaveTheBytesOfAllElements) {
  const Cost wide = cost_of_text("ld.global.nc.v4.b32 {%r0, %r1, %r2, %r3}, [%d0];");
  EXPECT_EQ(wide.traffic, Traffic::load);
  EXPECT_EQ(wide.bytes, 16);
  EXPECT_TRUE(wide.is_read_only);
  EXPECT_EQ(cost_of_text("st.shared.b16 [%r0], %h0;").bytes, 2);
  EXPECT_EQ(cost_of_text("atom.global.add.u32 %r0, [%d0], %r1;").traffic, Traffic::atomic);
}

TEST(Cost, BranchesAndBarriersEndABlock) {
  EXPECT_TRUE(cost_of_text("bar.sync 0;").ends_block);
  EXPECT_FALSE(cost_of_text("vote.sync.any.pred %p0, %p1, -1;").ends_block);
}

TEST(Cost, WhatHasNoModelSaysSo) {
  EXPECT_TRUE(cost_of_text("cp.async.wait_all;").is_unknown);
  EXPECT_FALSE(cost_of_text("add.f32 %r0, %r1, %r2;").is_unknown);
}

}  // namespace
}  // namespace emulator::test
