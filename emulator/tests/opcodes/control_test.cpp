#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA, "Control Flow Instructions" and guard predicates, with lanes that take different ways.
namespace emulator::test {
namespace {

using U = std::uint32_t;

// Three warps, the last of them short; `expected` computes what a thread stores from its index.
void check_threads(const std::string& body, const std::function<U(U)>& expected) {
  const auto out = run_u32(body + store_u32("%out", "%r5"), {.grid = {2}, .block = {72}});
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], expected(i)) << "thread " << i;
}

TEST(Control, IfAndElse) {
  check_threads(
      "mov.u32 %r5, 1; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra ELSE;\n"
      "add.u32 %r5, %r5, 10; bra.uni END;\nELSE: add.u32 %r5, %r5, 20;\nEND: add.u32 %r5, %r5, "
      "100;\n",
      [](U i) { return i % 2 == 0 ? 121U : 111U; });
}

// Guards on every kind of instruction, plain and negated; a false guard changes nothing.
TEST(Control, PredicatedEverything) {
  check_threads(
      "and.b32 %r3, %r0, 3; setp.eq.u32 %p1, %r3, 0; mov.u32 %r5, 5;\n"
      "@%p1 add.u32 %r5, %r5, 1; @!%p1 mul.lo.u32 %r5, %r5, 3; mov.u32 %r6, 0; mov.f32 %f1, "
      "0f40000000;\n"
      "@%p1 mov.u32 %r6, 100; @!%p1 mov.b32 %r6, %f1; setp.eq.u32 %p2, %r3, 1; @%p2 setp.ne.u32 "
      "%p1, %r3, 9;\n"
      "@%p1 cvt.rzi.u32.f32 %r6, %f1; @%p1 selp.u32 %r7, 1, 2, %p2; @!%p1 mov.u32 %r7, 3;\n"
      "add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;\n",
      [](U i) {
        const U r3 = i & 3;
        const bool p2 = r3 == 1, p1 = r3 == 0 || p2;
        U r5 = r3 == 0 ? 6 : 15;
        const U r6 = p1 ? 2 : 0x40000000;
        return r5 + r6 + (p1 ? (p2 ? 1 : 2) : 3);
      });
}

TEST(Control, PredicatedLoadsAndStores) {
  const auto out =
      run_u32(store_u32("%out", "%r0") +
                  "and.b32 %r3, %r0, 1; setp.ne.u32 %p1, %r3, 0; mov.u64 %l1, 0; mov.u32 %r6, 77;\n"
                  "@%p1 mov.u64 %l1, %l31; @%p1 ld.global.u32 %r6, [%l1]; @!%p1 bra SKIP;\n"
                  "add.u32 %r6, %r6, 1000; SKIP: @%p1 st.global.u32 [%l1], %r6;\n"
                  "@%p1 atom.global.add.u32 %r7, [%l1], 1; @%p1 red.global.add.u32 [%l1], 1;\n",
              {.grid = {1}, .block = {64}});
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % 2 != 0 ? i + 1002 : i);
}

TEST(Control, LoopsOfDifferentLengths) {
  check_threads(
      "mov.u32 %r5, 0; mov.u32 %r3, 0;\nLOOP: setp.ge.u32 %p1, %r3, %r0; @%p1 bra END;\n"
      "add.u32 %r5, %r5, %r3; add.u32 %r3, %r3, 1; bra.uni LOOP;\nEND:\n",
      [](U i) { return i * (i - 1) / 2; });
}

TEST(Control, NestedLoopsWithBreakAndContinue) {
  check_threads(
      "mov.u32 %r5, 0; mov.u32 %r3, 0; and.b32 %r9, %r0, 15;\n"
      "OUTER: setp.ge.u32 %p1, %r3, %r9; @%p1 bra END; mov.u32 %r4, 0;\n"
      "INNER: setp.ge.u32 %p2, %r4, %r3; @%p2 bra NEXT;\n"
      "add.u32 %r6, %r3, %r4; rem.u32 %r7, %r6, 3; setp.eq.u32 %p3, %r7, 0; @%p3 bra CONTINUE;\n"
      "mul.lo.u32 %r8, %r4, %r9; setp.gt.u32 %p4, %r8, 60; @%p4 bra NEXT; add.u32 %r5, %r5, %r6;\n"
      "CONTINUE: add.u32 %r4, %r4, 1; bra.uni INNER;\nNEXT: add.u32 %r3, %r3, 1; bra.uni "
      "OUTER;\nEND:\n",
      [](U i) {
        const U n = i & 15;
        U sum = 0;
        for (U a = 0; a < n; ++a) {
          for (U b = 0; b < a; ++b) {
            if ((a + b) % 3 == 0) continue;
            if (b * n > 60) break;
            sum += a + b;
          }
        }
        return sum;
      });
}

// Warps converge after a loop: lanes that leave early wait, for a shuffle then sees all of them.
TEST(Control, ConvergesAfterALoop) {
  check_threads(
      "mov.u32 %r3, 0; and.b32 %r9, %r0, 7;\nLOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, "
      "%r9;\n"
      "@%p1 bra LOOP;\nactivemask.b32 %r5;\nbar.sync 0;\nvote.sync.any.pred %p2, %p1, %r5;\n"
      "selp.u32 %r5, 1, 0, %p2;\n",
      [](U) { return 0U; });
}

TEST(Control, EarlyExitAndReturn) {
  for (const char* end : {"exit", "ret"}) {
    const auto out = run_u32(
        store_u32("%out", "1") + "and.b32 %r3, %r0, 3; setp.eq.u32 %p1, %r3, 2; @%p1 " + end +
            ";\n" + store_u32("%out", "2") + "setp.eq.u32 %p2, %r3, 1; @!%p2 bra MORE; " + end +
            ";\nMORE:\n" + store_u32("%out", "3"),
        {.grid = {2}, .block = {72}});
    for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % 4 == 2 ? 1U : i % 4 == 1 ? 2U : 3U);
  }
}

TEST(Control, BranchByIndex) {
  check_threads(
      "and.b32 %r3, %r0, 3; mov.u32 %r5, 0;\ntable: .branchtargets A, B, C, B;\nbrx.idx %r3, "
      "table;\n"
      "A: add.u32 %r5, %r5, 1; bra.uni END;\nB: add.u32 %r5, %r5, 2;\nC: add.u32 %r5, %r5, 4;\n"
      "END: add.u32 %r5, %r5, 8;\n",
      [](U i) { return i % 4 == 0   ? 9U
                       : i % 4 == 2 ? 12U
                                    : 14U; });
}

TEST(Control, GuardedBranchByIndex) {
  check_threads(
      "and.b32 %r3, %r0, 7; mov.u32 %r5, 0; setp.lt.u32 %p1, %r3, 2;\ntable: .branchtargets A, B;\n"
      "@%p1 brx.idx.uni %r3, table;\nbra END;\nA: mov.u32 %r5, 1; bra END;\nB: mov.u32 %r5, "
      "2;\nEND:\n",
      [](U i) { return i % 8 < 2 ? i % 8 + 1 : 0U; });
}

// A chain of comparisons, as nvcc compiles a switch with holes, with a way into the next case.
TEST(Control, SwitchByComparisons) {
  check_threads(
      "rem.u32 %r3, %r0, 5; mov.u32 %r5, 0;\nsetp.gt.s32 %p1, %r3, 2; @%p1 bra HIGH;\n"
      "setp.eq.s32 %p2, %r3, 0; @%p2 bra ZERO; setp.eq.s32 %p3, %r3, 2; @%p3 bra TWO; bra.uni "
      "DEFAULT;\n"
      "HIGH: setp.eq.s32 %p4, %r3, 3; @%p4 bra THREE; bra.uni DEFAULT;\n"
      "ZERO: mov.u32 %r5, 10; bra.uni END;\nTWO: mov.u32 %r5, 20;\nTHREE: add.u32 %r5, %r5, 30; "
      "bra.uni END;\n"
      "DEFAULT: mov.u32 %r5, 99;\nEND:\n",
      [](U i) {
        const U table[] = {10, 99, 50, 30, 99};
        return table[i % 5];
      });
}

// Backward and forward branches that cross, as no structured program has them.
TEST(Control, IrreducibleFlow) {
  check_threads(
      "mov.u32 %r5, 0; and.b32 %r3, %r0, 7; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra "
      "SECOND;\n"
      "FIRST: add.u32 %r5, %r5, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra END; sub.u32 %r3, %r3, 1;\n"
      "SECOND: add.u32 %r5, %r5, 16; setp.eq.u32 %p2, %r3, 0; @%p2 bra END; sub.u32 %r3, %r3, 1; "
      "bra FIRST;\n"
      "END:\n",
      [](U i) {
        U sum = 0;
        bool first = i % 2 != 0;
        for (U n = i & 7;; --n, first = !first) {
          sum += first ? 1 : 16;
          if (n == 0) return sum;
        }
      });
}

// One lane of a warp works, the others wait for it at the end of the branch: independent progress
// is what a lock between lanes needs.
TEST(Control, LanesOfAWarpTakeALockOneAfterAnother) {
  const auto out = run_u32(
      "mov.u32 %r5, 0;\nRETRY: atom.global.cas.b32 %r3, [%in], 0, 1; setp.ne.u32 %p1, %r3, 0;\n"
      "@%p1 bra WAIT; membar.gl; ld.volatile.global.u32 %r5, [%in+4]; add.u32 %r6, %r5, 1;\n"
      "st.volatile.global.u32 [%in+4], %r6; membar.gl; atom.global.exch.b32 %r3, [%in], 0;\n"
      "bra.uni DONE;\nWAIT: bra RETRY;\nDONE:\n" +
          store_u32("%out", "%r5"),
      {.grid = {2}, .block = {40}}, {0, 0});
  std::vector<bool> seen(80);
  for (const U x : out) {
    ASSERT_LT(x, 80U);
    ASSERT_FALSE(seen[x]);
    seen[x] = true;
  }
}

}  // namespace
}  // namespace emulator::test
