#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emulator/tests/module.h"

namespace emulator::test {
namespace {

/// The text of the refusal, which must name the line.
std::string refusal(const std::string& target, const std::string& instruction) {
  const std::string body = ".reg .b32 %a<8>, %b<8>, %c<8>, %e<8>;\n" + instruction;
  const std::string text = module_head(target) + kernel({"out"}, body);
  const Caught caught = caught_from([&] {
    Device device;
    device.set_gpu("l40s");  // which would execute it
    Kernels kernels(device, text, "refused.ptx");
    kernels.run("test", {.grid = {1}, .block = {32}}, device.allocate(64));
  });
  EXPECT_TRUE(caught.any) << instruction;
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction) << caught.text;
  const std::string before = text.substr(0, text.find(instruction));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  EXPECT_NE(caught.text.find("refused.ptx:" + std::to_string(line)), std::string::npos)
      << caught.text;
  return caught.text;
}

std::string list(const std::string& name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return text + "}";
}

std::string product(const std::string& name, int d, int a, int b, int c) {
  return name + " " + list("%e", d) + ", " + list("%a", a) + ", " + list("%b", b) + ", " +
         list("%c", c) + ";";
}

void expect_need(const std::string& target, const std::string& instruction,
                 const std::string& capability) {
  const std::string text = refusal(target, instruction);
  EXPECT_NE(text.find("needs compute capability " + capability), std::string::npos) << text;
  EXPECT_NE(text.find("the target is " + target), std::string::npos) << text;
}

TEST(MatrixRefusal, NamesTheComputeCapability) {
  expect_need("sm_75", product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4),
              "8.0");
  expect_need("sm_75", product("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4),
              "8.0");
  expect_need("sm_75", product("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4),
              "8.0");
  expect_need("sm_70", product("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4),
              "7.5");
  expect_need("sm_80", product("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 4),
              "8.9");
  expect_need("sm_75",
              "wmma.load.a.sync.aligned.row.m16n16k8.tf32 " + list("%a", 4) + ", [%out], 8;",
              "8.0");
  expect_need("sm_75", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a0], {%b0};", "9.0");
  expect_need("sm_70", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b0}, [%a0];", "7.5");
  expect_need("sm_70", "movmatrix.sync.aligned.m8n8.trans.b16 %b0, %a0;", "7.5");
  expect_need("sm_75", "cvt.rna.tf32.f32 %b0, %f0;", "8.0");
}

TEST(MatrixRefusal, ShapesTypesAndLayouts) {
  const std::string m = "mma.sync.aligned.";
  for (const std::string& instruction :
       {product(m + "m16n8k64.row.col.s32.s4.s4.s32", 4, 4, 2, 4),
        product(m + "m16n8k32.row.col.s32.s4.s4.s32", 4, 2, 1, 4),
        product(m + "m8n8k4.row.col.f16.f16.f16.f16", 4, 2, 2, 4),
        product(m + "m16n8k8.col.row.f32.f16.f16.f32", 4, 2, 1, 4),
        product(m + "m16n8k8.row.row.f32.f16.f16.f32", 4, 2, 1, 4),
        product(m + "m16n8k8.row.col.f32.f16.bf16.f32", 4, 2, 1, 4),
        product(m + "m16n8k32.row.col.f32.e4m3.s8.f32", 4, 4, 2, 4),
        product(m + "m16n8k8.row.col.f16.f16.f16.f32", 2, 2, 1, 4),
        product(m + "m16n8k8.row.col.f16.bf16.bf16.f16", 2, 2, 1, 2),
        product(m + "m16n8k8.row.col.f32.f32.f32.f32", 4, 4, 2, 4),
        product(m + "m16n8k8.row.col.satfinite.f32.f16.f16.f32", 4, 2, 1, 4),
        product(m + "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 4, 4, 2, 4),
        product("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 2, 4),
        product("mma.sync.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4),
        product("mma.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4),
        product("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32", 4, 8, 8, 8),
        product("wmma.mma.sync.aligned.row.col.m16n16k8.f32.f16.f16.f32", 8, 8, 8, 8),
        product("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 2, 1, 1, 2),
        std::string("wmma.load.a.sync.aligned.row.m16n16k16.shared.s32 {%a0, %a1}, [%b0];"),
        std::string("wmma.load.d.sync.aligned.row.m16n16k16.shared.s8 {%a0, %a1}, [%b0];"),
        std::string("wmma.load.a.sync.aligned.m16n16k16.shared.s8 {%a0, %a1}, [%b0];"),
        std::string("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%a0, %a1, %a2}, [%b0];"),
        std::string("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%a0, %a1}, [%b0];"),
        std::string("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%a0}, [%out];"),
        std::string("movmatrix.sync.aligned.m8n8.b16 %a0, %b0;"),
        std::string("cvt.rn.tf32.f32 %a0, %f0;")})
    refusal("sm_90", instruction);
}

TEST(MatrixRefusal, NumbersOfRegisters) {
  const std::string name = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  EXPECT_NE(
      refusal("sm_80", product(name, 2, 4, 2, 4)).find("operand 1 has 2 registers instead of 4"),
      std::string::npos);
  EXPECT_NE(refusal("sm_80", product(name, 4, 2, 2, 4)).find("operand 2"), std::string::npos);
  EXPECT_NE(refusal("sm_80", product(name, 4, 4, 1, 4)).find("operand 3"), std::string::npos);
  EXPECT_NE(refusal("sm_80", product(name, 4, 4, 2, 2)).find("operand 4"), std::string::npos);
  refusal("sm_80", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%a0}, [%b0];");
  refusal("sm_80", "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1}, [%out];");
}

}  // namespace
}  // namespace emulator::test
