#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emulator/tests/module.h"

// Forms of wgmma that PTX does not have, or that are not emulated: each names its line.
namespace emulator::test {
namespace {

Caught caught_at_load(const std::string& target, const std::string& instruction) {
  const std::string text =
      module_head(target) +
      kernel({"out"}, ".reg .b32 %a<8>, %e<128>;\n.reg .b16 %g<8>;\n" + instruction);
  return caught_from([&] {
    Device device;
    device.set_gpu("h100");
    Kernels kernels(device, text, "refused.ptx");
    kernels.run("test", {.grid = {1}, .block = {128}}, device.allocate(64));
  });
}

void expect_refused(const std::string& instruction, const std::string& why = "",
                    const std::string& target = "sm_90a") {
  const Caught caught = caught_at_load(target, instruction);
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction) << instruction;
  EXPECT_TRUE(caught.any) << instruction;
  EXPECT_NE(caught.text.find("refused.ptx:"), std::string::npos) << caught.text;
  EXPECT_NE(caught.text.find(why), std::string::npos) << caught.text;
}

std::string list(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%e" : ", %e") + std::to_string(i);
  return text + "}";
}

const std::string begin = "wgmma.mma_async.sync.aligned.";
const std::string a_registers = "{%a0, %a1, %a2, %a3}";

TEST(WgmmaRefusal, TargetsWithoutIt) {
  const std::string product =
      begin + "m64n8k16.f32.f16.f16 " + list(4) + ", %l1, %l2, %p1, 1, 1, 0, 0;";
  for (const char* target : {"sm_80", "sm_90", "sm_100a"}) {
    expect_refused(product, "needs the target sm_90a", target);
    expect_refused("wgmma.fence.sync.aligned;", "needs the target sm_90a", target);
  }
}

TEST(WgmmaRefusal, WhatIsNotEmulated) {
  expect_refused("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " + list(4) +
                     ", %l1, %l2, %r3, 0, %p1, 1, 1, 0, 0;",
                 "sparse products are not emulated");
  expect_refused(begin + "m64n8k256.s32.b1.b1.and.popc " + list(4) + ", %l1, %l2, %p1;",
                 "products of single bits are not emulated");
}

TEST(WgmmaRefusal, ShapesAndTypes) {
  const std::string floats = ", %l1, %l2, %p1, 1, 1, 0, 0;", bytes = ", %l1, %l2, %p1;",
                    others = ", %l1, %l2, %p1, 1, 1;";
  expect_refused(begin + "m64n12k16.f32.f16.f16 " + list(6) + floats, "no shape of these types");
  expect_refused(begin + "m64n264k16.f32.f16.f16 " + list(128) + floats, "no shape");
  expect_refused(begin + "m64n8k8.f32.f16.f16 " + list(4) + floats, "no shape");
  expect_refused(begin + "m64n8k16.f32.tf32.tf32 " + list(4) + others, "no shape");
  expect_refused(begin + "m64n40k32.s32.s8.s8 " + list(20) + bytes, "no shape");
  expect_refused(begin + "m32n8k16.f32.f16.f16 " + list(4) + floats);
  expect_refused(begin + "m64n8k16.f16.bf16.bf16 " + list(2) + floats, "no product of .bf16");
  expect_refused(begin + "m64n8k16.f32.f16.bf16 " + list(4) + floats, "no product of .f16");
  expect_refused(begin + "m64n8k32.f32.e4m3.s8 " + list(4) + others, "no product of .e4m3");
  expect_refused(begin + "m64n8k32.f32.s8.s8 " + list(4) + bytes, "no product of .s8");
  expect_refused(begin + "m64n8k8.f16.tf32.tf32 " + list(2) + others, "no product of .tf32");
  expect_refused(begin + "m64n8k16.satfinite.f32.f16.f16 " + list(4) + floats, "satfinite");
}

TEST(WgmmaRefusal, Operands) {
  const std::string f16 = begin + "m64n8k16.f32.f16.f16 ", f8 = begin + "m64n8k32.f32.e4m3.e4m3 ",
                    s8 = begin + "m64n8k32.s32.s8.s8 ";
  expect_refused(f16 + list(2) + ", %l1, %l2, %p1, 1, 1, 0, 0;", "2 registers instead of 4");
  expect_refused(f16 + list(4) + ", {%a0, %a1}, %l2, %p1, 1, 1, 0;", "2 registers instead of 4");
  expect_refused(f16 + list(4) + ", %l1, %l2, %p1, 1, 1, 0;", "does not take 7 operands");
  expect_refused(f16 + list(4) + ", " + a_registers + ", %l2, %p1, 1, 1, 0, 0;",
                 "does not take 8 operands");
  expect_refused(f16 + list(4) + ", %l1, %l2, %p1, 0, 1, 0, 0;", "operand 5 is 1 or -1");
  expect_refused(f16 + list(4) + ", %l1, %l2, %p1, 1, 1, 2, 0;", "operand 7 is 0 or 1");
  expect_refused(f16 + list(4) + ", %l1, %l2, %r3, 1, 1, 0, 0;", "a predicate is needed");
  expect_refused(f16 + list(4) + ", %a1, %l2, %p1, 1, 1, 0, 0;");
  // Only 16-bit types have majors, and integers no signs.
  expect_refused(f8 + list(4) + ", %l1, %l2, %p1, 1, 1, 0, 0;", "does not take 8 operands");
  expect_refused(s8 + list(4) + ", %l1, %l2, %p1, 1, 1;", "does not take 6 operands");
  expect_refused("wgmma.wait_group.sync.aligned %r3;", "the number of groups is a constant");
  expect_refused("wgmma.commit_group.aligned;", "'.sync' is missing");
  expect_refused("wgmma.arrive.sync.aligned;", "'.wait_group' is missing");
}

}  // namespace
}  // namespace emulator::test
