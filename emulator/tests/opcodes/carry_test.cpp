#include <gtest/gtest.h>

#include <cstdint>

#include "emulator/tests/opcodes/table.h"

// PTX ISA, "Extended-Precision Integer Arithmetic Instructions": chains through the carry flag.
namespace emulator::test {
namespace {

using U = std::uint32_t;
using W = std::uint64_t;

U low(W x) { return static_cast<U>(x); }
U high(W x) { return static_cast<U>(x >> 32); }

// 64-bit arithmetic from 32-bit halves; the operands are split and the result joined by mov.
const std::string split =
    "{ .reg .u32 la, ha, lb, hb, ld, hd; mov.b64 {la, ha}, %a; mov.b64 {lb, hb}, %b;\n";
const std::string join = "\nmov.b64 %d, {ld, hd}; }";

TEST(Carry, Chains32) {
  check({row(split + "add.cc.u32 ld, la, lb; addc.u32 hd, ha, hb;" + join,
             [](W a, W b) { return a + b; }),
         row(split + "add.cc.s32 ld, la, lb; addc.s32 hd, ha, hb;" + join,
             [](W a, W b) { return a + b; }),
         row(split + "sub.cc.u32 ld, la, lb; subc.u32 hd, ha, hb;" + join,
             [](W a, W b) { return a - b; }),
         row(split + "sub.cc.s32 ld, la, lb; subc.s32 hd, ha, hb;" + join,
             [](W a, W b) { return a - b; }),
         // The flag survives instructions that do not name it.
         row(split +
                 "add.cc.u32 ld, la, lb; xor.b32 la, la, lb; add.u32 lb, lb, lb; addc.u32 hd, ha, "
                 "hb;" +
                 join,
             [](W a, W b) { return a + b; })});
}

TEST(Carry, Out) {
  check(
      {row("add.cc.u32 %a, %a, %b; addc.u32 %d, 0, 0;", [](U a, U b) { return high(W{a} + b); }),
       row("add.cc.u32 %a, %a, %b; addc.cc.u32 %a, %c, %b; addc.u32 %d, 0, 0;",
           [](U a, U b, U c) { return high(W{c} + b + high(W{a} + b)); }),
       // The borrow of a subtraction: subc.cc leaves it for the next.
       row("sub.cc.u32 %a, %a, %b; subc.u32 %d, 0, 0;",
           [](U a, U b) { return a < b ? ~U{0} : U{0}; }),
       row("sub.cc.u32 %a, %a, %b; subc.cc.u32 %a, %c, %b; subc.u32 %d, 0, 0;", [](U a, U b, U c) {
         const W borrow = a < b ? 1 : 0;
         return W{c} < W{b} + borrow ? ~U{0} : U{0};
       })});
}

TEST(Carry, Chains64) {
  check({row("{ .reg .u64 l; add.cc.u64 l, %a, %b; addc.u64 %d, %c, 0; }",
             [](W a, W b, W c) { return c + (a + b < a ? 1 : 0); }),
         row("{ .reg .u64 l; sub.cc.u64 l, %a, %b; subc.u64 %d, %c, 0; }",
             [](W a, W b, W c) { return c - (a < b ? 1 : 0); })});
}

// (a * b + c * 2^32) as multi-word products are summed.
TEST(Carry, MultiplyAdd) {
  check({row("{ .reg .u32 l, h; mad.lo.cc.u32 l, %a, %b, %c; madc.hi.u32 h, %a, %b, %c; mov.b64 "
             "%d, {l, h}; }",
             [](U a, U b, U c) { return W{a} * b + c + (W{c} << 32); }),
         row("mad.lo.cc.u32 %c, %a, %b, %c; addc.u32 %d, 0, 0;",
             [](U a, U b, U c) { return high(W{low(W{a} * b)} + c); }),
         row("mad.hi.cc.u32 %c, %a, %b, %c; addc.u32 %d, 0, 0;",
             [](U a, U b, U c) { return high(W{high(W{a} * b)} + c); })});
}

}  // namespace
}  // namespace emulator::test
