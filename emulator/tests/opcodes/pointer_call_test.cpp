#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "emulator/tests/module.h"

// PTX ISA: addresses of functions in registers and initial values, and calls through them.
namespace emulator::test {
namespace {

using U = std::uint32_t;

std::string function(const std::string& name, const std::string& code) {
  return ".func (.param .b32 result) " + name +
         "(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n" + code +
         "\nst.param.b32 [result+0], %r1;\nret;\n}\n";
}

const std::string functions = function("twice", "shl.b32 %r1, %r1, 1;") +
                              function("plus", "add.u32 %r1, %r1, 1000;") +
                              ".global .align 8 .u64 table[3] = {0, twice, plus};\n"
                              ".global .align 1 .u8 packed[9] = {7, 0xFF(plus), 0xFF00(plus), "
                              "0xFF0000(plus), 0XFF000000(plus), 0xFF00000000(plus), "
                              "0xFF0000000000(plus), 0xFF000000000000(plus), "
                              "0xFF00000000000000(plus)};\n";

/// Calls the function at %l1 with %r0; the result is %r5.
std::string call_pointer(const std::string& parameters = "(.param .b32 _)") {
  return "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r0;\n.param .b32 r0;\n"
         "prototype_0 : .callprototype (.param .b32 _) _ " +
         parameters + ";\ncall (r0), %l1, (p0), prototype_0;\nld.param.b32 %r5, [r0+0];\n}\n";
}

template <class Expected>
void check(const std::string& body, Expected expected) {
  const auto out =
      run_u32(body + store_u32("%out", "%r5"), {.grid = {2}, .block = {40}}, {0}, 1, functions);
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], expected(i)) << "thread " << i;
}

TEST(PointerCall, OfAnAddressThatIsMoved) {
  check("mov.u64 %l1, plus;\n" + call_pointer(), [](U i) { return i + 1000; });
}

TEST(PointerCall, OfInitialValues) {
  check("mov.u64 %l2, table; ld.global.u64 %l1, [%l2+8];\n" + call_pointer(),
        [](U i) { return 2 * i; });
  std::string bytes = "mov.u64 %l2, packed; mov.u64 %l1, 0;\n";
  for (int k = 8; k >= 1; --k)
    bytes += "ld.global.u8 %l3, [%l2+" + std::to_string(k) +
             "]; shl.b64 %l1, %l1, 8; or.b64 %l1, %l1, %l3;\n";
  check(bytes + call_pointer(), [](U i) { return i + 1000; });
}

TEST(PointerCall, OfAnotherFunctionInEachLane) {
  check(
      "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; mov.u64 %l2, plus; mov.u64 %l3, twice;\n"
      "selp.b64 %l1, %l2, %l3, %p1;\n" +
          call_pointer() + "add.u32 %r5, %r5, 5;\n",
      [](U i) { return (i % 2 == 0 ? i + 1000 : 2 * i) + 5; });
}

TEST(PointerCall, OfNothingIsAFault) {
  const auto run = [](const std::string& body) {
    return caught_from([&] {
      run_u32(body + store_u32("%out", "%r5"), {.grid = {1}, .block = {1}}, {0}, 1, functions);
    });
  };
  EXPECT_EQ(run("mov.u64 %l1, 0;\n" + call_pointer()).kind, FaultKind::illegal_address);
  EXPECT_FALSE(run("mov.u64 %l1, twice;\n" + call_pointer()).any);
  // A function of another prototype.
  const Caught caught = run("mov.u64 %l1, twice;\n" + call_pointer("(.param .b64 _)"));
  EXPECT_TRUE(caught.any);
  EXPECT_EQ(run("mov.u64 %l1, twice;\ncall %l1, nothing;\n").kind, FaultKind::illegal_instruction);
  EXPECT_EQ(run("mov.u64 %l1, missing;\n").kind, FaultKind::illegal_instruction);
}

// Functions that may call one another by pointers need the stack of recursion, and are not looked
// at along each of very many paths.
TEST(PointerCall, AmongMany) {
  std::string many = ".global .align 8 .u64 all[20] = {f0";
  for (int i = 1; i < 20; ++i) many += ", f" + std::to_string(i);
  many += "};\n";
  for (int i = 0; i < 20; ++i)
    many += ".func (.param .b32 result) f" + std::to_string(i) +
            "(.param .b32 x)\n{\n.reg .b32 %r<6>; .reg .b64 %l<4>; .reg .pred %p1;\n"
            "ld.param.u32 %r0, [x]; mov.u32 %r5, 0; setp.eq.u32 %p1, %r0, 0; @%p1 bra END;\n"
            "sub.u32 %r0, %r0, 1; mov.u64 %l2, all; mul.wide.u32 %l3, %r0, 8;\n"
            "add.u64 %l2, %l2, %l3; ld.global.u64 %l1, [%l2];\n" +
            call_pointer() + "add.u32 %r5, %r5, 1;\nEND: st.param.b32 [result+0], %r5; ret;\n}\n";
  const auto out = run_u32("rem.u32 %r0, %r2, 16; mov.u64 %l1, f3;\n" + call_pointer() +
                               "mov.u32 %r0, %r2;\n" + store_u32("%out", "%r5"),
                           {.grid = {1}, .block = {32}}, {0}, 1, many);
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % 16) << i;
}

}  // namespace
}  // namespace emulator::test
