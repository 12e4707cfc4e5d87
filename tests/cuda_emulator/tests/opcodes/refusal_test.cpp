#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/cuda_emulator/tests/opcodes/module.h"

// The interpreter must refuse what it does not know, and name the line, before anything runs.
namespace emulator::test {
namespace {

// A kernel is decoded when its module is loaded or before its first launch.
Caught caught_loading(const std::string& text) {
  return caught_from([&] {
    Device device;
    Kernels kernels(device, text, "refused.ptx");
    kernels.run("test", {.grid = {1}, .block = {1}}, device.allocate(64));
  });
}

void expect_refused(const std::string& instruction) {
  SCOPED_TRACE(instruction);
  // The instruction stands alone on the line that the text must name.
  const std::string before = module_head() + kernel({"out"}, "MARK");
  const std::string text = std::string(before).replace(before.find("MARK"), 4, instruction);
  const std::string head = text.substr(0, text.find(instruction));
  const auto line = 1 + std::count(head.begin(), head.end(), '\n');
  const Caught caught = caught_loading(text);
  ASSERT_TRUE(caught.any);
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction);
  EXPECT_NE(caught.text.find(std::to_string(line)), std::string::npos) << caught.text;
  EXPECT_NE(caught.text.find("refused.ptx"), std::string::npos) << caught.text;
}

TEST(Refusal, UnknownOpcodes) {
  expect_refused("frobnicate.s32 %r3, %r4, %r5;");
  expect_refused("addd.s32 %r3, %r4, %r5;");
  expect_refused("wgmma.fence.sync.aligned;");
  expect_refused("tcgen05.wait::ld.sync.aligned;");
}

TEST(Refusal, UnknownModifiersAndTypes) {
  expect_refused("add.sideways.s32 %r3, %r4, %r5;");
  expect_refused("add.s33 %r3, %r4, %r5;");
  expect_refused("fma.rx.f32 %f1, %f2, %f3, %f4;");
  expect_refused("ld.global.purple.u32 %r3, [%out];");
  expect_refused("setp.spaceship.s32 %p1, %r3, %r4;");
  expect_refused("shfl.sync.left.b32 %r3, %r4, 1, 31, -1;");
  expect_refused("atom.global.nand.b32 %r3, [%out], 1;");
  expect_refused("cvt.rnx.f32.f64 %f1, %d1;");
  expect_refused("mov.b128 %l1, %l2;");
}

// A modifier that the interpreter ignored would compute something else.
TEST(Refusal, ModifiersThatDoNotApply) {
  expect_refused("add.ftz.s32 %r3, %r4, %r5;");
  expect_refused("add.rn.s32 %r3, %r4, %r5;");
  expect_refused("mul.s32 %r3, %r4, %r5;");
  expect_refused("fma.f32 %f1, %f2, %f3, %f4;");
  expect_refused("div.f64 %d1, %d2, %d3;");
  expect_refused("cvt.f32.f64 %f1, %d1;");
  expect_refused("cvt.s32.f32 %r3, %f1;");
}

TEST(Refusal, WrongOperands) {
  expect_refused("add.s32 %r3, %r4;");
  expect_refused("add.s32 %r3, %r4, %r5, %r6;");
  expect_refused("add.s32 %r3, %r4, %nowhere;");
  expect_refused("bra NOWHERE;");
  expect_refused("mov.u32 %r3, %nosuchregister;");
  expect_refused("call.uni nowhere;");
  expect_refused("add.s32 3, %r4, %r5;");
  expect_refused("@%r3 add.s32 %r3, %r4, %r5;");
}

TEST(Refusal, BrokenText) {
  expect_refused("add.s32 %r3, %r4, %r5 add.s32 %r3, %r4, %r5;");
  expect_refused("mov.u32 %r3, 0x;");
  Device device;
  const auto load = [&](const std::string& text) {
    return caught_from([&] { const Kernels kernels(device, text); });
  };
  EXPECT_TRUE(load("this is no PTX\n").any);
  EXPECT_TRUE(load(module_head() + ".visible .entry test()\n{\nret;\n").any);
}

TEST(Refusal, ComesBeforeAnythingRuns) {
  Device device;
  std::optional<Kernels> kernels;
  const auto out = device.allocate(4);
  const Caught caught = caught_from([&] {
    kernels.emplace(
        device,
        module_head() +
            kernel({"out"}, "mov.u32 %r3, 1; st.global.u32 [%out], %r3;\nfrobnicate.s32 %r3;"));
    kernels->run("test", {.grid = {1}, .block = {1}}, out);
  });
  EXPECT_TRUE(caught.any);
  EXPECT_FALSE(device.memory().is_initialised(out, 4));
}

TEST(Refusal, AnUnknownKernelIsNamed) {
  Device device;
  Kernels kernels(device, module_head() + kernel({"out"}, ""));
  EXPECT_THROW(kernels.program().facts("nothing"), std::out_of_range);
}

}  // namespace
}  // namespace emulator::test
