#include <gtest/gtest.h>

#include "emulator/tests/module.h"

// PTX ISA: alloca, stacksave, stackrestore.
namespace emulator::test {
namespace {

using U = std::uint32_t;

Caught run(const std::string& body, std::vector<U>* out = nullptr,
           const std::string& functions = "") {
  return caught_from([&] {
    auto values =
        run_u32(body + store_u32("%out", "%r5"), {.grid = {1}, .block = {32}}, {0}, 1, functions);
    if (out != nullptr) *out = std::move(values);
  });
}

// Each lane takes as much as it says, and keeps it across a call whose callee has variables.
TEST(Stack, IsTakenByLanes) {
  const std::string callee =
      ".func (.param .b32 r) deeper(.param .b32 x)\n{\n.local .align 16 .b8 own[16]; .reg .b32 "
      "%r<3>; .reg .b64 %l<3>;\nmov.u64 %l1, own; ld.param.u32 %r1, [x];\n"
      "st.local.v4.u32 [%l1], {%r1, %r1, %r1, %r1}; ld.local.u32 %r2, [%l1+4];\n"
      "st.param.b32 [r], %r2; ret;\n}\n";
  std::vector<U> out;
  const Caught caught =
      run("mul.lo.u32 %r3, %r0, 4; add.u32 %r3, %r3, 4; cvt.u64.u32 %l1, %r3;\n"
          "alloca.u64 %l2, %l1, 16; cvt.u64.u32 %l4, %r3; add.u64 %l3, %l2, %l4;\n"
          "st.local.u32 [%l3-4], %r0; st.local.u32 [%l2], %r0;\n"
          "{ .param .b32 p; .param .b32 q; st.param.b32 [p], 9; call (q), deeper, (p);\n"
          "ld.param.b32 %r4, [q]; }\n"
          "ld.local.u32 %r5, [%l3-4]; ld.local.u32 %r6, [%l2]; add.u32 %r5, %r5, %r6;\n"
          "mad.lo.u32 %r5, %r4, 1000, %r5;\n",
          &out, callee);
  ASSERT_FALSE(caught.any) << caught.text;
  for (U i = 0; i < 32; ++i) EXPECT_EQ(out[i], 9000 + 2 * i);
}

TEST(Stack, IsAlignedAndEnds) {
  std::vector<U> out;
  ASSERT_FALSE(run("alloca.u64 %l1, 5, 1; alloca.u64 %l2, 8, 64; and.b64 %l2, %l2, 63;\n"
                   "cvt.u32.u64 %r5, %l2;\n",
                   &out)
                   .any);
  EXPECT_EQ(out[3], 0U);
  const Caught caught = run("mov.u32 %r5, 1; alloca.u64 %l1, 2000;\n");
  EXPECT_EQ(caught.kind, FaultKind::illegal_address);
  EXPECT_NE(caught.text.find("alloca of 2000 bytes, where a thread has"), std::string::npos)
      << caught.text;
}

// Without the restores the stack would not hold a hundred times 512 bytes.
TEST(Stack, IsRestored) {
  std::vector<U> out;
  const std::string loop =
      "mov.u32 %r5, 0;\nNEXT: stacksave.u64 %l1; alloca.u64 %l2, 512; st.local.u32 [%l2], %r5;\n"
      "ld.local.u32 %r5, [%l2]; add.u32 %r5, %r5, 1; stackrestore.u64 %l1;\n"
      "setp.lt.u32 %p1, %r5, 100; @%p1 bra NEXT;\n";
  ASSERT_FALSE(run(loop, &out).any);
  EXPECT_EQ(out[0], 100U);
  std::string without = loop;
  without.erase(without.find("stackrestore.u64 %l1;"), 21);
  EXPECT_EQ(run(without).kind, FaultKind::illegal_address);
  EXPECT_EQ(run("mov.u32 %r5, 0; stackrestore.u64 900;\n").kind, FaultKind::undefined);
}

TEST(Stack, HoldsNothingThatWasWrittenBefore) {
  EXPECT_EQ(run("stacksave.u64 %l1; alloca.u64 %l2, 8; st.local.u32 [%l2], %r0;\n"
                "stackrestore.u64 %l1; alloca.u64 %l2, 8; ld.local.u32 %r5, [%l2];\n")
                .kind,
            FaultKind::uninitialised_read);
}

}  // namespace
}  // namespace emulator::test
