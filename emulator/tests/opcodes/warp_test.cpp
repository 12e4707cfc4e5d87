#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/operand.h"

// PTX ISA: shfl.sync, vote.sync, match.sync, activemask, bar.warp.sync.
namespace emulator::test {
namespace {

using Lanes = std::array<std::uint32_t, 32>;

struct Shuffled {
  std::uint32_t lane;  // whose value arrives
  bool in_range;
};

// The ISA's semantics, with 5-bit lane arithmetic spelled out in signed integers.
Shuffled shuffled(const std::string& mode, int lane, std::uint32_t b, std::uint32_t c) {
  const int offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const int max_lane = (lane & segment) | (clamp & ~segment);
  const int min_lane = lane & segment;
  int j = 0;
  bool in_range = false;
  if (mode == "up") j = lane - offset, in_range = j >= max_lane;
  if (mode == "down") j = lane + offset, in_range = j <= max_lane;
  if (mode == "bfly") j = lane ^ offset, in_range = j <= max_lane;
  if (mode == "idx") j = min_lane | (offset & ~segment), in_range = j <= max_lane;
  return {static_cast<std::uint32_t>(in_range ? j : lane), in_range};
}

std::uint32_t value_of(int lane) { return 0x1000U + static_cast<std::uint32_t>(lane) * 77; }

const std::string value_in_r3 = "mad.lo.s32 %r3, %r0, 77, 4096;\n";

std::string store_pair(const std::string& first, const std::string& second) {
  return element("%out", 8) + "st.global.v2.u32 [%l31], {" + first + ", " + second + "};\n";
}

// Clamp and segment masks of all widths that __shfl_*_sync takes, and some odd ones.
TEST(Shuffle, AllModesOffsetsAndSegments) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    std::string body = value_in_r3;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> operands;
    for (const std::uint32_t c :
         {0x0U, 0x1FU, 0x1C03U, 0x1C00U, 0x181FU, 0x1800U, 0x101FU, 0x0F0FU, 0x1E01U}) {
      for (const std::uint32_t b : {0U, 1U, 2U, 5U, 16U, 31U, 32U, 37U})
        operands.emplace_back(b, c);
    }
    std::vector<std::uint32_t> in;
    for (const auto& [b, c] : operands) in.insert(in.end(), {b, c});
    // One warp of each block takes one pair of operands.
    body +=
        "mov.u32 %r4, %ctaid.x; mul.wide.u32 %l0, %r4, 8; add.s64 %l0, %l0, %in;\n"
        "ld.global.v2.u32 {%r5, %r6}, [%l0]; mov.u32 %r7, %tid.x; mad.lo.s32 %r3, %r7, 77, 4096;\n"
        "shfl.sync." +
        mode + ".b32 %r8|%p1, %r3, %r5, %r6, -1; selp.u32 %r9, 1, 0, %p1;\n" +
        store_pair("%r8", "%r9");
    const auto blocks = static_cast<unsigned>(operands.size());
    const auto out = run_u32(body, {.grid = {blocks}, .block = {32}}, in, 2);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (int lane = 0; lane < 32; ++lane) {
        const auto [b, c] = operands[i];
        const Shuffled expected = shuffled(mode, lane, b, c);
        const std::size_t at = 2 * (i * 32 + static_cast<std::size_t>(lane));
        EXPECT_EQ(out[at], value_of(static_cast<int>(expected.lane)))
            << mode << " b=" << b << std::hex << " c=0x" << c << std::dec << " lane " << lane;
        EXPECT_EQ(out[at + 1], expected.in_range)
            << mode << " b=" << b << " c=" << c << " lane " << lane;
      }
    }
  }
}

TEST(Shuffle, TakesImmediatesAndNeedsNoPredicate) {
  const auto out = run_u32(
      value_in_r3 + "shfl.sync.down.b32 %r4, %r3, 1, 31, 0xFFFFFFFF;\n" + store_u32("%out", "%r4"),
      {.grid = {1}, .block = {32}});
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[static_cast<std::size_t>(lane)], value_of(lane == 31 ? 31 : lane + 1));
  }
}

// The two halves of a warp, apart from each other in the code and with their own masks.
TEST(Shuffle, OfHalfWarpsInDivergentCode) {
  const auto out = run_u32(value_in_r3 +
                               "setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;\n"
                               "shfl.sync.bfly.b32 %r4, %r3, 1, 31, 0xFFFF0000; bra.uni DONE;\n"
                               "LOW: shfl.sync.bfly.b32 %r4, %r3, 2, 31, 0x0000FFFF;\nDONE:\n" +
                               store_u32("%out", "%r4"),
                           {.grid = {1}, .block = {32}});
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[static_cast<std::size_t>(lane)], value_of(lane < 16 ? lane ^ 2 : lane ^ 1));
  }
}

// "wait until all non-exited threads corresponding to membermask have executed".
TEST(Shuffle, IgnoresExitedLanes) {
  const auto out = run_u32(value_in_r3 + store_u32("%out", "0") +
                               "setp.ge.u32 %p1, %r0, 20; @%p1 exit;\n"
                               "shfl.sync.idx.b32 %r4, %r3, 7, 31, 0xFFFFFFFF;\n" +
                               store_u32("%out", "%r4"),
                           {.grid = {1}, .block = {32}});
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 20 ? value_of(7) : 0);
}

// Lanes that arrive one after another, as loops of different lengths make them.
TEST(Shuffle, WaitsForLateLanes) {
  const auto out =
      run_u32(value_in_r3 +
                  "mov.u32 %r5, 0;\nLOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r0;\n"
                  "@%p1 bra LOOP;\nshfl.sync.up.b32 %r4, %r3, 3, 0, -1;\n" +
                  store_u32("%out", "%r4"),
              {.grid = {1}, .block = {32}});
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[static_cast<std::size_t>(lane)], value_of(lane < 3 ? lane : lane - 3));
  }
}

TEST(Shuffle, InAShortLastWarp) {
  const auto out = run_u32(
      value_in_r3 + "shfl.sync.bfly.b32 %r4, %r3, 1, 31, 0xFFFFFFFF;\n" + store_u32("%out", "%r4"),
      {.grid = {1}, .block = {40}});
  for (int thread = 0; thread < 40; ++thread) {
    EXPECT_EQ(out[static_cast<std::size_t>(thread)], value_of(thread ^ 1));
  }
}

constexpr std::uint32_t vote_patterns[] = {0,          0xFFFFFFFF, 1,         0x80000000,
                                           0x5555AAAA, 0x0000FFFF, 0xFFFFFFFE};

// Each block votes with one pattern: lane i says bit i.
std::vector<std::uint32_t> vote(const std::string& instruction, std::uint32_t mask = 0xFFFFFFFF) {
  const std::vector<std::uint32_t> patterns(std::begin(vote_patterns), std::end(vote_patterns));
  const std::string body =
      "mov.u32 %r4, %ctaid.x; mul.wide.u32 %l0, %r4, 4; add.s64 %l0, %l0, %in;\n"
      "ld.global.u32 %r5, [%l0]; mov.u32 %r6, %tid.x; shr.u32 %r5, %r5, %r6; and.b32 %r5, %r5, 1;\n"
      "setp.ne.u32 %p1, %r5, 0; mov.u32 %r7, 99;\nmov.u32 %r8, " +
      std::to_string(mask) +
      "; shr.u32 %r8, %r8, %r6; and.b32 %r8, %r8, 1; setp.eq.u32 %p3, %r8, 0; @%p3 bra OUT;\n" +
      instruction + "\nOUT:\n" + store_u32("%out", "%r7");
  return run_u32(body, {.grid = {static_cast<unsigned>(patterns.size())}, .block = {32}}, patterns);
}

using Vote = std::uint32_t (*)(std::uint32_t said, std::uint32_t mask);

void expect_vote(const std::string& instruction, Vote expected) {
  for (const std::uint32_t mask : {0xFFFFFFFFU, 0x0F0F0F0FU, 0x80000001U}) {
    std::string with_mask = instruction;
    with_mask.replace(with_mask.find("MASK"), 4, std::to_string(mask));
    const auto out = vote(with_mask, mask);
    for (std::size_t i = 0; i < std::size(vote_patterns); ++i) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const bool votes = (mask >> lane & 1) != 0;
        EXPECT_EQ(out[i * 32 + lane], votes ? expected(vote_patterns[i] & mask, mask) : 99)
            << with_mask << " pattern " << std::hex << vote_patterns[i] << " lane " << std::dec
            << lane;
      }
    }
  }
}

TEST(Vote, Sync) {
  const std::string as_number = " selp.u32 %r7, 1, 0, %p2;";
  expect_vote("vote.sync.ballot.b32 %r7, %p1, MASK;",
              [](std::uint32_t said, std::uint32_t) { return said; });
  expect_vote("vote.sync.ballot.b32 %r7, !%p1, MASK;",
              [](std::uint32_t said, std::uint32_t mask) { return ~said & mask; });
  expect_vote("vote.sync.any.pred %p2, %p1, MASK;" + as_number,
              [](std::uint32_t said, std::uint32_t) { return said != 0 ? 1U : 0U; });
  expect_vote("vote.sync.all.pred %p2, %p1, MASK;" + as_number,
              [](std::uint32_t said, std::uint32_t mask) { return said == mask ? 1U : 0U; });
  expect_vote("vote.sync.all.pred %p2, !%p1, MASK;" + as_number,
              [](std::uint32_t said, std::uint32_t) { return said == 0 ? 1U : 0U; });
  expect_vote(
      "vote.sync.uni.pred %p2, %p1, MASK;" + as_number,
      [](std::uint32_t said, std::uint32_t mask) { return said == 0 || said == mask ? 1U : 0U; });
}

// nvcc writes the modifiers in this order, too.
TEST(Vote, BallotBeforeSync) {
  expect_vote("vote.ballot.sync.b32 %r7, %p1, MASK;",
              [](std::uint32_t said, std::uint32_t) { return said; });
}

TEST(Match, AnyAndAll) {
  const std::vector<std::uint32_t> keys{4, 1, 1, 4, 9, 9, 9, 1, 4, 0, 0, 0, 0, 0, 0, 0,
                                        1, 1, 1, 1, 1, 1, 1, 1, 5, 6, 7, 8, 5, 6, 7, 8};
  const std::string load =
      "mul.wide.u32 %l0, %r0, 4; add.s64 %l0, %l0, %in; ld.global.u32 %r3, [%l0];\n";
  const std::string wide = "mov.b64 %l1, {%r3, %r3};\n";
  for (const std::string instruction : {"match.any.sync.b32 %r4, %r3, 0xFFFFFFFF;\n",
                                        "match.any.sync.b64 %r4, %l1, 0xFFFFFFFF;\n"}) {
    const auto out = run_u32(load + wide + instruction + store_u32("%out", "%r4"),
                             {.grid = {1}, .block = {32}}, keys);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::uint32_t expected = 0;
      for (std::size_t other = 0; other < 32; ++other) {
        if (keys[other] == keys[lane]) expected |= 1U << other;
      }
      EXPECT_EQ(out[lane], expected) << instruction << lane;
    }
  }
  for (const bool equal : {false, true}) {
    std::vector<std::uint32_t> all(32, 7);
    if (!equal) all[31] = 8;
    const auto out =
        run_u32(load + "match.all.sync.b32 %r4|%p1, %r3, 0xFFFFFFFF; selp.u32 %r5, 1, 0, %p1;\n" +
                    store_pair("%r4", "%r5"),
                {.grid = {1}, .block = {32}}, all, 2);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(out[2 * lane], equal ? 0xFFFFFFFFU : 0U);
      EXPECT_EQ(out[2 * lane + 1], equal ? 1U : 0U);
    }
  }
}

// Convergence after a branch is the hardware's choice, so that a mask need only hold the lane
// itself, and no lane that took the other way.
TEST(Activemask, HoldsOnlyLanesOfTheSameBranch) {
  const auto out = run_u32(
      "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;\n"
      "activemask.b32 %r4; bra.uni DONE;\nEVEN: activemask.b32 %r4;\nDONE:\n" +
          store_u32("%out", "%r4"),
      {.grid = {1}, .block = {32}});
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_NE(out[lane] & 1U << lane, 0U);
    EXPECT_EQ(out[lane] & (lane % 2 == 0 ? 0xAAAAAAAAU : 0x55555555U), 0U);
  }
}

// Data that lanes exchange through shared memory in a warp, with bar.warp.sync between.
TEST(WarpBarrier, OrdersSharedMemory) {
  for (const char* barrier : {"bar.warp.sync 0xFFFFFFFF;", "bar.warp.sync -1;"}) {
    const auto out = run_u32(
        ".shared .align 4 .b8 buffer[128];\nmov.u64 %l0, buffer; mul.wide.u32 %l1, %r0, 4;\n"
        "add.s64 %l2, %l0, %l1; st.shared.u32 [%l2], %r0;\n" +
            std::string(barrier) +
            "\nxor.b32 %r3, %r0, 31; mul.wide.u32 %l1, %r3, 4; add.s64 %l2, %l0, %l1;\n"
            "ld.shared.u32 %r4, [%l2];\n" +
            store_u32("%out", "%r4"),
        {.grid = {1}, .block = {32}});
    for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane ^ 31);
  }
}

}  // namespace
}  // namespace emulator::test
