#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "emulator/machine/decoder.h"
#include "emulator/tests/module.h"

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

void expect_refused(const std::string& instruction, const std::string& target) {
  SCOPED_TRACE(instruction);
  // The instruction stands alone on the line that the text must name.
  const std::string before = module_head(target) + kernel({"out"}, "MARK");
  const std::string text = std::string(before).replace(before.find("MARK"), 4, instruction);
  const std::string head = text.substr(0, text.find(instruction));
  const auto line = 1 + std::count(head.begin(), head.end(), '\n');
  const Caught caught = caught_loading(text);
  ASSERT_TRUE(caught.any);
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction);
  EXPECT_NE(caught.text.find(std::to_string(line)), std::string::npos) << caught.text;
  EXPECT_NE(caught.text.find("refused.ptx"), std::string::npos) << caught.text;
}

void expect_refused(const std::string& instruction, int capability = 75) {
  expect_refused(instruction, "sm_" + std::to_string(capability));
}

TEST(Refusal, UnknownOpcodes) {
  expect_refused("frobnicate.s32 %r3, %r4, %r5;");
  expect_refused("addd.s32 %r3, %r4, %r5;");
  expect_refused("wgmma.fence.sync.aligned;");
  expect_refused("tcgen05.wait::ld.sync.aligned;");
}

TEST(Refusal, TwoDecodersOfAnOpcode) {
  ASSERT_NE(find_opcode("add"), nullptr);
  EXPECT_THROW(Opcodes({{"add", find_opcode("sub")}}), std::logic_error);
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

// ptxas refuses them as well.
TEST(Refusal, InstructionsForLaterTargets) {
  for (const char* instruction :
       {"cp.async.ca.shared.global [%r3], [%out], 4;", "cp.async.commit_group;",
        "cp.async.wait_all;", "cp.async.mbarrier.arrive.shared.b64 [%r3];",
        "mbarrier.init.shared.b64 [%r3], 1;", "mbarrier.arrive.shared.b64 %l1, [%r3];",
        "mbarrier.test_wait.shared.b64 %p1, [%r3], %l1;", "mbarrier.pending_count.b64 %r4, %l1;"}) {
    expect_refused(instruction, 75);
  }
  for (const char* instruction :
       {"mbarrier.try_wait.shared.b64 %p1, [%r3], %l1;",
        "mbarrier.arrive.shared.b64 %l1, [%r3], 2;",
        "mbarrier.arrive.release.cta.shared.b64 %l1, [%r3];",
        "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r3], 16;",
        "mbarrier.arrive.shared::cluster.b64 _, [%r3];",
        "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r3], 16;",
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r3], 16;", "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group 0;", "fence.proxy.async;", "fence.mbarrier_init.release.cluster;",
        "fence.acquire.gpu;", "griddepcontrol.wait;"}) {
    expect_refused(instruction, 80);
  }
  expect_refused("setmaxnreg.inc.sync.aligned.u32 96;", 90);
}

TEST(Refusal, AsynchronousCopiesOfUnknownForm) {
  for (const char* instruction :
       {"cp.async.cg.shared.global [%r3], [%out], 8;",
        "cp.async.ca.shared.global [%r3], [%out], 12;",
        "cp.async.ca.shared.global [%r3], [%out], %r4;",
        "cp.async.shared.global [%r3], [%out], 4;",
        "cp.async.ca.shared.shared [%r3], [%r4], 4;",
        "cp.async.ca.shared.global [%r3], [%out];",
        "cp.async.ca.shared.global.L2::512B [%r3], [%out], 4;",
        "cp.async.ca.shared.global.L2::cache_hint [%r3], [%out], 4;",
        "cp.async.wait_group %r3;",
        "cp.async.wait_group.read 0;",
        "cp.async.bulk.global.shared::cta [%out], [%r3], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%r3], 16, %h1;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%out], 16;",
        "cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r4], 16, "
        "[%r5];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r3], [%out], 16, [%r5], %h1;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
        "[%out], [%r5];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
        "[%out, {%r4}], [%r5];",
        "cp.async.bulk.tensor.6d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
        "[%out, {%r4}], [%r5];",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r3], "
        "[%out, {%r4, %r4, %r4}], [%r5], {%h1};",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::1 "
        "[%r3], [%out, {%r4, %r4}], [%r5];",
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%out, {%r4}], [%r3], %r4;",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.mul.tile.bulk_group [%out, {%r4}], "
        "[%r3];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%out], [%r3], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%out], [%r3], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.u32 [%out], [%r3], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%r3], [%r4], 16, [%r5];",
        "fence.proxy.tensormap::generic.acquire.gpu [%out], 64;",
        "fence.proxy.tensormap::generic.release;",
        "tensormap.replace.tile.global_address.global.b1024.b64 [%out], %l1;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu [%out], [%r3], "
        "128;",
        "mbarrier.init.shared.b32 [%r3], 1;",
        "mbarrier.init.global.b64 [%out], 1;",
        "mbarrier.arrive.noComplete.shared.b64 %l1, [%r3];",
        "mbarrier.arrive.noComplete.shared.b64 _, [%r3], 1;",
        "mbarrier.arrive.acquire.cta.shared.b64 %l1, [%r3];",
        "mbarrier.arrive.release.shared.b64 %l1, [%r3];",
        "mbarrier.test_wait.shared.b64 %p1, [%r3], %l1, 5;",
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r3], %l1;",
        "mbarrier.expect_tx.release.cta.shared.b64 [%r3], 16;",
        "fence.proxy.tensormap;",
        "fence.proxy.sideways;",
        "griddepcontrol.sideways;"}) {
    expect_refused(instruction, 90);
  }
}

TEST(Refusal, FieldsOfTensorMaps) {
  for (const char* rest :
       {"rank.global.b1024.b64 [%out], %l1;", "rank.global.b1024.b32 [%out], 0, 1;",
        "box_dim.global.b1024.b32 [%out], 5, 1;", "box_dim.global.b1024.b32 [%out], %r3, 1;",
        "global_stride.global.b1024.b64 [%out], 4, %l1;", "elemtype.global.b1024.b32 [%out], 8;",
        "elemtype.global.b1024.b32 [%out], %r3;", "swizzle_mode.global.b1024.b32 [%out], 4;",
        "swizzle_atomicity.global.b1024.b32 [%out], 1;", "fill_mode.global.b1024.b32 [%out], 2;",
        "rank.local.b1024.b32 [%out], 1;"})
    expect_refused(std::string("tensormap.replace.tile.") + rest, "sm_90a");
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
