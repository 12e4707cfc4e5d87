#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: call, .func, parameters and return values.
namespace emulator::test {
namespace {

using U = std::uint32_t;

// Forms that nvcc writes for none of our kernels: right, or refused.
template <class Function>
void expect_right_or_refused(Function function) {
  try {
    function();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::illegal_instruction) << fault.what();
  }
}

template <class Expected>
void check_call(const std::string& functions, const std::string& body, Expected expected) {
  const auto out =
      run_u32(body + store_u32("%out", "%r5"), {.grid = {2}, .block = {40}}, {0}, 1, functions);
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], expected(i)) << "thread " << i;
}

const std::string twice =
    ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n"
    "shl.b32 %r2, %r1, 1;\nst.param.b32 [result], %r2;\nret;\n}\n";

std::string call_of(const std::string& function, const std::string& argument,
                    const std::string& result) {
  return "{\n.param .b32 p0;\nst.param.b32 [p0+0], " + argument +
         ";\n.param .b32 r0;\ncall.uni (r0), " + function + ", (p0);\nld.param.b32 " + result +
         ", [r0+0];\n}\n";
}

// As nvcc writes it: everything through .param variables in a block of their own.
TEST(Call, ThroughParameterSpace) {
  check_call(twice, call_of("twice", "%r0", "%r5"), [](U i) { return 2 * i; });
}

// The caller's registers survive although the callee uses the same names.
TEST(Call, HasItsOwnRegisters) {
  check_call(twice,
             "add.u32 %r1, %r0, 3; mov.u32 %r2, 1000;\n" + call_of("twice", "%r1", "%r5") +
                 "add.u32 %r5, %r5, %r1; add.u32 %r5, %r5, %r2;\n",
             [](U i) { return 3 * (i + 3) + 1000; });
}

TEST(Call, WithRegisterParameters) {
  const std::string function =
      ".func (.reg .u32 result) plus(.reg .u32 a, .reg .u32 b)\n{\nadd.u32 result, a, "
      "b;\nret;\n}\n";
  expect_right_or_refused(
      [&] { check_call(function, "call (%r5), plus, (%r0, 7);\n", [](U i) { return i + 7; }); });
}

TEST(Call, MixedParametersAndAStructure) {
  const std::string function =
      ".func (.param .align 8 .b8 result[16]) mix(.param .b64 a, .param .f32 b, .param .align 4 "
      ".b8 c[12])\n{\n"
      ".reg .b32 %r<5>; .reg .b64 %l<3>; .reg .f32 %f1;\nld.param.u64 %l1, [a]; ld.param.f32 %f1, "
      "[b];\n"
      "ld.param.b32 %r1, [c+8]; ld.param.b32 %r2, [c]; cvt.rzi.u32.f32 %r3, %f1; add.u32 %r1, %r1, "
      "%r2;\n"
      "st.param.b64 [result], %l1; st.param.b32 [result+8], %r3; st.param.b32 [result+12], %r1; "
      "ret;\n}\n";
  check_call(
      function,
      "cvt.u64.u32 %l1, %r0; cvt.rn.f32.u32 %f1, %r0;\n{\n.param .b64 p0; .param .f32 p1; .param "
      ".align 4 .b8 p2[12];\n"
      ".param .align 8 .b8 r[16]; st.param.b64 [p0], %l1; st.param.f32 [p1], %f1; st.param.b32 "
      "[p2], %r0;\n"
      "st.param.b32 [p2+4], 5; st.param.b32 [p2+8], 6; call.uni (r), mix, (p0, p1, p2);\n"
      "ld.param.b64 %l2, [r]; ld.param.v2.b32 {%r3, %r4}, [r+8];\n}\n"
      "cvt.u32.u64 %r5, %l2; mad.lo.u32 %r5, %r3, 100, %r5; mad.lo.u32 %r5, %r4, 10000, %r5;\n",
      [](U i) { return i + 100 * i + 10000 * (i + 6); });
}

// As nvcc calls its own pow.
TEST(Call, OfDoubles) {
  const std::string function =
      ".func (.param .b64 result) square(.param .b64 x, .param .b64 y)\n{\n.reg .f64 "
      "%d<4>;\nld.param.f64 %d1, [x];\n"
      "ld.param.f64 %d2, [y]; fma.rn.f64 %d3, %d1, %d1, %d2; st.param.f64 [result+0], %d3; "
      "ret;\n}\n";
  check_call(function,
             "cvt.rn.f64.u32 %d1, %r0; mov.f64 %d2, 0d4000000000000000;\n{ // callseq 0, 0\n.param "
             ".b64 param0;\n"
             "st.param.f64 [param0+0], %d1;\n.param .b64 param1;\nst.param.f64 [param1+0], "
             "%d2;\n.param .b64 retval0;\n"
             "call.uni (retval0), \nsquare, \n(\nparam0, \nparam1\n);\nld.param.f64 %d3, "
             "[retval0+0];\n} // callseq 0\n"
             "cvt.rzi.u32.f64 %r5, %d3;\n",
             [](U i) { return i * i + 2; });
}

TEST(Call, WithoutResultWritesMemory) {
  const std::string function =
      ".func store(.param .b64 to, .param .b32 x)\n{\n.reg .b32 %r1; .reg .b64 %l1;\nld.param.u64 "
      "%l1, [to];\n"
      "ld.param.u32 %r1, [x]; st.global.u32 [%l1], %r1; ret;\n}\n";
  const auto out = run_u32(element("%out", 4) +
                               "{\n.param .b64 p0; .param .b32 p1; st.param.b64 [p0], %l31;\n"
                               "st.param.b32 [p1], %r0; call.uni store, (p0, p1);\n}\n",
                           {.grid = {1}, .block = {64}}, {0}, 1, function);
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
}

TEST(Call, WithoutArguments) {
  const std::string functions =
      ".func (.param .b32 r) lane()\n{\n.reg .b32 %r1; mov.u32 %r1, %laneid; st.param.b32 [r], "
      "%r1;\n"
      "ret;\n}\n.func nothing()\n{\nret;\n}\n";
  check_call(functions,
             "call nothing;\n{ .param .b32 r0; call (r0), lane; ld.param.b32 %r5, [r0]; }\n",
             [](U i) { return i % 40 % 32; });
}

TEST(Call, NestedAndDeclaredBefore) {
  const std::string functions =
      ".func (.param .b32 result) twice(.param .b32 x);\n"
      ".func (.param .b32 result) four_times(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 "
      "%r1, [x];\n" +
      call_of("twice", "%r1", "%r2") + call_of("twice", "%r2", "%r3") +
      "st.param.b32 [result], %r3; ret;\n}\n" + twice;
  check_call(functions, call_of("four_times", "%r0", "%r5"), [](U i) { return 4 * i; });
}

// A function of x that calls itself while x is not 0, and keeps x in local memory meanwhile.
const std::string triangular =
    ".func (.param .b32 result) triangular(.param .b32 x)\n{\n.local .align 4 .b8 depot[16]; .reg "
    ".pred %p1; .reg .b32 %r<6>;\nld.param.u32 %r1, [x]; mov.u32 %r4, 0; st.local.u32 [depot+4], "
    "%r1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r2, %r1, 1;\n" +
    call_of("triangular", "%r2", "%r3") +
    "ld.local.u32 %r5, [depot+4]; add.u32 %r4, %r3, %r5;\nDONE: st.param.b32 [result], %r4; "
    "ret;\n}\n";

TEST(Call, OfItself) {
  check_call(triangular, "rem.u32 %r6, %r0, 30;\n" + call_of("triangular", "%r6", "%r5"),
             [](U i) { return (i % 30) * (i % 30 + 1) / 2; });
}

TEST(Call, OfItselfThroughAnother) {
  const std::string functions =
      ".func (.param .b32 result) odd(.param .b32 x);\n"
      ".func (.param .b32 result) even(.param .b32 x)\n{\n.reg .pred %p1; .reg .b32 "
      "%r<4>;\nld.param.u32 %r1, [x]; mov.u32 %r3, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; "
      "sub.u32 %r2, %r1, 1;\n" +
      call_of("odd", "%r2", "%r3") +
      "DONE: st.param.b32 [result], %r3; ret;\n}\n"
      ".func (.param .b32 result) odd(.param .b32 x)\n{\n.reg .pred %p1; .reg .b32 "
      "%r<4>;\nld.param.u32 %r1, [x]; mov.u32 %r3, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; "
      "sub.u32 %r2, %r1, 1;\n" +
      call_of("even", "%r2", "%r3") + "DONE: st.param.b32 [result], %r3; ret;\n}\n";
  check_call(functions, call_of("even", "%r0", "%r5"), [](U i) { return i % 2 == 0 ? 1 : 0; });
}

// 1024 bytes of stack for each thread unless the program asks for more.
TEST(Call, EndsAtTheEndOfTheStack) {
  const std::string again = ".func again()\n{\ncall again;\nret;\n}\n";
  const Caught caught =
      caught_from([&] { run_u32("call again;\n", {.grid = {1}, .block = {1}}, {0}, 1, again); });
  EXPECT_EQ(caught.kind, FaultKind::illegal_address);
  EXPECT_NE(caught.text.find("bytes of stack"), std::string::npos) << caught.text;
}

// Lanes call different functions, call under a guard, and return at different places.
TEST(Call, InDivergentCode) {
  const std::string functions =
      twice +
      ".func (.param .b32 result) collatz(.param .b32 x)\n{\n.reg .pred %p<3>; .reg .b32 "
      "%r<5>;\nld.param.u32 %r1, [x];\n"
      "mov.u32 %r2, 0;\nLOOP: setp.le.u32 %p1, %r1, 1; @!%p1 bra MORE; st.param.b32 [result], %r2; "
      "ret;\n"
      "MORE: and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0; add.u32 %r2, %r2, 1; @%p2 bra EVEN;\n"
      "mad.lo.u32 %r1, %r1, 3, 1; bra LOOP;\nEVEN: shr.u32 %r1, %r1, 1; bra LOOP;\n}\n";
  check_call(functions,
             "rem.u32 %r3, %r0, 3; setp.eq.u32 %p1, %r3, 0; @%p1 bra FIRST;\n" +
                 call_of("collatz", "%r0", "%r5") + "bra DONE;\nFIRST:\n" +
                 call_of("twice", "%r0", "%r5") + "DONE:\n",
             [](U i) {
               if (i % 3 == 0) return 2 * i;
               U steps = 0;
               for (U x = i; x > 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps;
               return steps;
             });
}

TEST(Call, CalleesLocalMemory) {
  const std::string function =
      ".func (.param .b32 result) reverse(.param .b32 x)\n{\n.local .align 4 .b8 depot[16]; .reg "
      ".b32 %r<4>; .reg .b64 %l<4>;\n"
      "ld.param.u32 %r1, [x]; st.local.u32 [depot+4], %r1; mov.u64 %l1, depot; ld.local.u8 %r2, "
      "[%l1+4];\n"
      "ld.local.u8 %r3, [%l1+5]; shl.b32 %r2, %r2, 8; or.b32 %r2, %r2, %r3; st.param.b32 [result], "
      "%r2; ret;\n}\n";
  check_call(function, "add.u32 %r3, %r0, 0x1200;\n" + call_of("reverse", "%r3", "%r5"),
             [](U i) { return (i + 0x1200) % 256 * 256 + (i + 0x1200) / 256; });
}

TEST(Call, ByPointer) {
  const std::string functions =
      twice +
      ".func (.param .b32 result) same(.param .b32 x)\n{\n.reg .b32 %r1; ld.param.u32 %r1, [x];\n"
      "st.param.b32 [result], %r1; ret;\n}\n";
  check_call(functions,
             "mov.u64 %l1, twice; mov.u64 %l2, same; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; "
             "selp.b64 %l3, %l1, %l2, %p1;\n"
             "{\n.param .b32 p0; st.param.b32 [p0], %r0; .param .b32 r0;\n"
             "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (r0), %l3, (p0), "
             "prototype;\n"
             "ld.param.b32 %r5, [r0];\n}\n",
             [](U i) { return i % 2 == 0 ? 2 * i : i; });
}

// Directives of clusters, and registers declared in one word, as inline assembly has them.
TEST(Call, OfFunctionsWithUnusualDeclarations) {
  const std::string text =
      module_head("sm_90") +
      ".visible .entry test(.param .u64 out)\n.maxntid 32\n.maxclusterrank 2\n"
      ".reqnctapercluster 1, 1, 1\n.explicitcluster\n{\n.reg.b32 %r<2>; .reg.b64 %l1;\n"
      "ld.param.u64 %l1, [out]; mov.u32 %r1, 7; st.global.u32 [%l1], %r1; ret;\n}\n"
      ".visible .entry pair()\n.reqnctapercluster 2\n{\nret;\n}\n";
  Device device;
  Kernels kernels(device, text);
  const auto out = device.allocate(4);
  kernels.run("test", {.grid = {1}, .block = {1}}, out);
  EXPECT_EQ(device.download<U>(out, 1)[0], 7U);
  kernels.run("pair", {.grid = {2}, .block = {1}});
  const Caught caught = caught_from([&] { kernels.run("pair", {.grid = {3}, .block = {1}}); });
  EXPECT_EQ(caught.kind, FaultKind::illegal_instruction);
  EXPECT_NE(caught.text.find("no multiple of the cluster"), std::string::npos) << caught.text;
}

}  // namespace
}  // namespace emulator::test
