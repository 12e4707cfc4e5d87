#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/tests/module.h"

// Values of which nothing has written some bytes, on their way through each kind of instruction.
namespace emulator::test {
namespace {

constexpr unsigned used = 0x100;  // a fault

/// `code` makes %r5 of %r1, which is loaded with these of its bytes defined, bit 0 the lowest one.
/// Expected: which bytes of what is then stored are defined, or `used`.
struct Row {
  const char* code;
  unsigned defined;
  unsigned expected;
};

unsigned defined_after(const Row& row) {
  Device device;
  const auto in = device.allocate(4), out = device.allocate(4);
  for (unsigned k = 0; k < 4; ++k)
    if ((row.defined >> k & 1) != 0) device.memory().view(in + k, 1, Access::write, host, "test");
  const std::string text =
      module_head() + kernel({"in", "out"}, "ld.global.u32 %r1, [%in];\n" + std::string(row.code) +
                                                "\nst.global.u32 [%out], %r5;\n");
  Kernels kernels(device, text);
  const Caught caught =
      caught_from([&] { kernels.run("test", {.grid = {1}, .block = {1}}, in, out); });
  if (caught.any) {
    EXPECT_EQ(caught.kind, FaultKind::uninitialised_read) << caught.text;
    return used;
  }
  unsigned defined = 0;
  for (unsigned k = 0; k < 4; ++k)
    if (device.memory().is_initialised(out + k, 1)) defined |= 1u << k;
  return defined;
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(defined_after(row), row.expected) << row.code;
}

TEST(Undefined, BitsMoveWithTheirValues) {
  check({{"mov.b32 %r5, %r1;", 0b0101, 0b0101},
         {"mov.b32 %f1, %r1; mov.b32 %r5, %f1;", 0b0110, 0b0110},
         {"shl.b32 %r5, %r1, 8;", 0b0111, 0b1111},
         {"shl.b32 %r5, %r1, 16;", 0b1101, 0b0111},
         {"shr.u32 %r5, %r1, 8;", 0b0111, 0b1011},
         {"shr.s32 %r5, %r1, 8;", 0b0111, 0b0011},
         {"shf.l.wrap.b32 %r5, %r1, %r1, 8;", 0b0011, 0b0110},
         {"prmt.b32 %r5, %r1, 0, 0x0123;", 0b0001, 0b1000},
         {"bfe.u32 %r5, %r1, 16, 8;", 0b0100, 0b1111},
         {"bfi.b32 %r5, %r1, 7, 8, 8;", 0b0001, 0b1111},
         {"bfi.b32 %r5, %r1, 7, 8, 8;", 0b0010, 0b1101},
         {"mov.b32 {%h1, %h2}, %r1; mov.b32 %r5, {%h2, %h1};", 0b0001, 0b0100},
         {"cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r5, %h1;", 0b0001, 0b1101},
         {"cvt.u16.u32 %h1, %r1; cvt.s32.s16 %r5, %h1;", 0b0001, 0b0001},
         {"cvt.u64.u32 %l1, %r1; shl.b64 %l1, %l1, 32; mov.b64 {%r2, %r5}, %l1;", 0b0011, 0b0011}});
}

TEST(Undefined, LogicKeepsWhatTheOtherSideDecides) {
  check({{"and.b32 %r5, %r1, 0x00ff00ff;", 0b0101, 0b1111},
         {"and.b32 %r5, %r1, 0x00ffffff;", 0b0101, 0b1101},
         {"or.b32 %r5, %r1, 0xff00ff00;", 0b0101, 0b1111},
         {"xor.b32 %r5, %r1, 0xff00ff00;", 0b0101, 0b0101},
         {"xor.b32 %r5, %r1, %r1;", 0b0000, 0b1111},
         {"not.b32 %r5, %r1;", 0b1110, 0b1110},
         {"lop3.b32 %r5, %r1, 0x0000ffff, 0, 0xc0;", 0b0011, 0b1111},
         {"shr.u32 %r2, %r1, 4; and.b32 %r5, %r2, 0xf;", 0b0001, 0b1111}});
}

TEST(Undefined, ChoicesTakeOneSide) {
  check({{"setp.eq.u32 %p1, %r0, 0; selp.b32 %r5, 3, %r1, %p1;", 0b0000, 0b1111},
         {"setp.ne.u32 %p1, %r0, 0; selp.b32 %r5, 3, %r1, %p1;", 0b0001, 0b0001},
         {"setp.ne.u32 %p1, %r0, 0; mov.u32 %r5, 1; @%p1 mov.u32 %r5, %r1;", 0b0000, 0b1111},
         {"setp.eq.u32 %p1, %r0, 0; mov.u32 %r5, 1; @%p1 mov.u32 %r5, %r1;", 0b0000, 0b0000}});
}

TEST(Undefined, ArithmeticUsesAll) {
  check({{"add.u32 %r5, %r1, 1;", 0b0111, used},
         {"add.u32 %r5, %r1, 1;", 0b1111, 0b1111},
         {"mul.lo.u32 %r5, %r1, 3;", 0b1110, used},
         {"popc.b32 %r5, %r1;", 0b0111, used},
         {"mov.b32 %f1, %r1; add.f32 %f2, %f1, 0f3F800000; mov.b32 %r5, %f2;", 0b0111, used},
         {"mov.b32 %f1, %r1; mul.f32 %f2, %f1, 0f00000000; mov.b32 %r5, %f2;", 0b0000, used},
         {"cvt.rn.f32.u32 %f1, %r1; mov.b32 %r5, %f1;", 0b0111, used},
         {"add.cc.u32 %r2, %r1, 1; addc.u32 %r5, 0, 0;", 0b0000, used},
         // Whatever it is, the result is the same.
         {"sub.u32 %r5, %r1, %r1;", 0b0000, 0b1111},
         {"mul.lo.u32 %r5, %r1, 0;", 0b0000, 0b1111},
         {"min.u32 %r5, %r1, 0;", 0b0000, 0b1111}});
}

TEST(Undefined, DecisionsUseAll) {
  check({{"setp.gt.u32 %p1, %r1, 9; selp.b32 %r5, 1, 2, %p1;", 0b0111, used},
         {"setp.gt.u32 %p1, %r1, 9; mov.u32 %r5, 1; @%p1 mov.u32 %r5, 2;", 0b0111, used},
         {"setp.gt.u32 %p1, %r1, 9; mov.u32 %r5, 1; @%p1 bra END; mov.u32 %r5, 2; END:", 0b0111,
          used},
         {"mov.u32 %r5, 1; setp.gt.u32 %p1, %r1, 9; @%p1 st.global.u32 [%out], %r5;", 0b0111, used},
         {"and.b32 %r2, %r1, 0xff; setp.gt.u32 %p1, %r2, 9; selp.b32 %r5, 1, 2, %p1;", 0b0001,
          0b1111},
         {"mov.u32 %r5, 1; cvt.u64.u32 %l1, %r1; and.b64 %l1, %l1, 4; add.u64 %l1, %l1, %out; "
          "ld.global.u8 %r2, [%l1];",
          0b1110, used},
         {"setp.gt.u32 %p1, %r1, 9; vote.sync.ballot.b32 %r5, %p1, 1;", 0b0111, used},
         {"mov.u32 %r5, 1; red.global.add.u32 [%out], %r1;", 0b0111, used}});
}

// What is written again is defined.
TEST(Undefined, EndsWithANewValue) {
  check({{"mov.u32 %r2, %r1; mov.u32 %r1, 5; add.u32 %r5, %r1, 1;", 0b0000, 0b1111},
         {"add.u32 %r5, %r1, 1; mov.u32 %r5, 3;", 0b0000, 0b1111}});
}

}  // namespace
}  // namespace emulator::test
