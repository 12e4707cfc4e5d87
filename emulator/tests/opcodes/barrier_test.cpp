#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: bar, barrier, their reductions, and fences.
namespace emulator::test {
namespace {

const std::string buffer = ".shared .align 4 .b8 buffer[4096];\nmov.u64 %l0, buffer;\n";
const std::string address_of_r3 = "mul.wide.u32 %l1, %r3, 4; add.s64 %l2, %l0, %l1;\n";

// Writes the thread's index, waits, reads that of the thread at the other end of the block.
std::string exchange(const std::string& barrier, unsigned threads) {
  return buffer + "mov.u32 %r3, %tid.x;\n" + address_of_r3 + "st.shared.u32 [%l2], %r3;\n" +
         barrier + "\nmov.u32 %r4, " + std::to_string(threads - 1) + "; sub.u32 %r3, %r4, %r3;\n" +
         address_of_r3 + "ld.shared.u32 %r5, [%l2];\n" + store_u32("%out", "%r5");
}

TEST(Barrier, AllForms) {
  for (const char* barrier :
       {"bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;", "bar.cta.sync 3;",
        "bar.sync 15;", "bar.sync 0, 256;", "barrier.sync 2, 256;", "mov.u32 %r6, 5; bar.sync %r6;",
        "mov.u32 %r6, 5; mov.u32 %r7, 256; bar.sync %r6, %r7;"}) {
    SCOPED_TRACE(barrier);
    const auto out = run_u32(exchange(barrier, 256), {.grid = {2}, .block = {256}});
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 255 - i % 256);
  }
}

TEST(Barrier, InABlockWithAShortWarp) {
  const auto out = run_u32(exchange("bar.sync 0;", 77), {.grid = {1}, .block = {77}});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 76 - i);
}

TEST(Barrier, OfTwoHalvesOfABlock) {
  const std::string body =
      "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, 64; @%p1 bra LOW;\n"
      "bar.sync 1, 64; bra.uni DONE;\nLOW: bar.sync 2, 64;\nDONE:\n" +
      store_u32("%out", "%r3");
  const auto out = run_u32(body, {.grid = {1}, .block = {128}});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
}

// bar.arrive does not wait: the second warp produces, the first consumes.
TEST(Barrier, Arrive) {
  const std::string body =
      buffer + "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, 32; @%p1 bra CONSUMER;\n" +
      address_of_r3 +
      "st.shared.u32 [%l2], %r3; bar.arrive 1, 64; mov.u32 %r5, 0; bra.uni DONE;\n"
      "CONSUMER: bar.sync 1, 64; add.u32 %r3, %r3, 32;\n" +
      address_of_r3 + "ld.shared.u32 %r5, [%l2];\nDONE:\n" + store_u32("%out", "%r5");
  const auto out = run_u32(body, {.grid = {1}, .block = {64}});
  for (std::size_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], i + 32);
}

// One thread of 96 says something else.
TEST(Barrier, Reductions) {
  struct Case {
    const char* instruction;
    unsigned dissenter;
    std::uint32_t expected;
  };
  for (const Case& each :
       {Case{"bar.red.popc.u32 %r5, 0, %p1;", 40, 95},
        Case{"bar.red.popc.u32 %r5, 0, !%p1;", 40, 1},
        Case{"bar.red.popc.u32 %r5, 1, 96, %p1;", 500, 96},
        Case{"barrier.red.popc.u32 %r5, 0, %p1;", 500, 96},
        Case{"bar.red.and.pred %p2, 0, %p1; selp.u32 %r5, 1, 0, %p2;", 40, 0},
        Case{"bar.red.and.pred %p2, 0, %p1; selp.u32 %r5, 1, 0, %p2;", 500, 1},
        Case{"bar.red.or.pred %p2, 0, !%p1; selp.u32 %r5, 1, 0, %p2;", 40, 1},
        Case{"bar.red.or.pred %p2, 0, !%p1; selp.u32 %r5, 1, 0, %p2;", 500, 0}}) {
    SCOPED_TRACE(each.instruction);
    const auto out =
        run_u32("mov.u32 %r3, %tid.x; setp.ne.u32 %p1, %r3, " + std::to_string(each.dissenter) +
                    ";\n" + each.instruction + "\n" + store_u32("%out", "%r5"),
                {.grid = {2}, .block = {96}});
    for (const std::uint32_t x : out) ASSERT_EQ(x, each.expected);
  }
}

// Threads that have ended count as arrived.
TEST(Barrier, WithoutExitedThreads) {
  const std::string body = store_u32("%out", "7") +
                           "mov.u32 %r3, %tid.x; setp.ge.u32 %p1, %r3, 70; @%p1 ret;\n" +
                           "bar.sync 0;\n" + store_u32("%out", "%r3");
  const auto out = run_u32(body, {.grid = {1}, .block = {128}});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i < 70 ? i : 7);
}

TEST(Barrier, FencesAndHintsAreNoOperations) {
  std::string body = "mov.u32 %r3, 5;\n";
  for (const char* fence :
       {"membar.cta;", "membar.gl;", "membar.sys;", "fence.sc.cta;", "fence.acq_rel.gpu;",
        "fence.sc.sys;", "nanosleep.u32 20;", "nanosleep.u32 %r3;", "prefetch.global.L2 [%in];",
        "prefetch.global.L1 [%in];", "pmevent 1;"}) {
    body += std::string(fence) + "\n";
  }
  for (const std::uint32_t x :
       run_u32(body + store_u32("%out", "%r3"), {.grid = {1}, .block = {32}}))
    ASSERT_EQ(x, 5U);
}

}  // namespace
}  // namespace emulator::test
