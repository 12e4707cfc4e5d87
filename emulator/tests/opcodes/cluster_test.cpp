#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: clusters' special registers, the addresses of their shared memory, and what uses them.
namespace emulator::test {
namespace {

using U = std::uint32_t;
using Values = std::vector<U>;

const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

// --- Special registers, of grids and clusters of three dimensions, by one thread of each block.

const Dim3 grid{6, 4, 2}, cluster{3, 2, 2};

template <class Expected>
void expect_register(const std::string& name, Expected expected) {
  SCOPED_TRACE(name);
  const std::string body =
      "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
      "mad.lo.u32 %r0, %r6, 4, %r5; mad.lo.u32 %r0, %r0, 6, %r4; mov.u32 %r20, " +
      name + ";\n" + store_u32("%out", "%r20");
  const Values out =
      run_u32(body, {.grid = grid, .block = {1}, .cluster = cluster}, {0}, 1, "", 90);
  for (unsigned i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], expected(Dim3{i % 6, i / 6 % 4, i / 24})) << "block " << i;
}

TEST(Cluster, SpecialRegisters) {
  expect_register("%clusterid.x", [](const Dim3& at) { return at.x / 3; });
  expect_register("%clusterid.y", [](const Dim3& at) { return at.y / 2; });
  expect_register("%clusterid.z", [](const Dim3&) { return 0U; });
  expect_register("%nclusterid.x", [](const Dim3&) { return 2U; });
  expect_register("%nclusterid.y", [](const Dim3&) { return 2U; });
  expect_register("%nclusterid.z", [](const Dim3&) { return 1U; });
  expect_register("%cluster_ctaid.x", [](const Dim3& at) { return at.x % 3; });
  expect_register("%cluster_ctaid.y", [](const Dim3& at) { return at.y % 2; });
  expect_register("%cluster_ctaid.z", [](const Dim3& at) { return at.z; });
  expect_register("%cluster_nctaid.x", [](const Dim3&) { return 3U; });
  expect_register("%cluster_nctaid.y", [](const Dim3&) { return 2U; });
  expect_register("%cluster_nctaid.z", [](const Dim3&) { return 2U; });
  expect_register("%cluster_ctarank",
                  [](const Dim3& at) { return at.x % 3 + 3 * (at.y % 2) + 6 * at.z; });
  expect_register("%cluster_nctarank", [](const Dim3&) { return 12U; });
}

TEST(Cluster, IsExplicitIfSomebodyAsksForIt) {
  const std::string body =
      "mov.pred %p1, %is_explicit_cluster; selp.u32 %r3, 1, 0, %p1;\n" + store_u32("%out", "%r3");
  const auto run = [&](const Dim3& asked) {
    return run_u32(body, {.grid = {2}, .block = {1}, .cluster = asked}, {0}, 1, "", 90);
  };
  EXPECT_EQ(run({0, 0, 0}), (Values{0, 0}));
  EXPECT_EQ(run({1, 1, 1}), (Values{1, 1}));
  EXPECT_EQ(run({2, 1, 1}), (Values{1, 1}));
}

// --- Addresses. Blocks of one warp, of which each has its rank in `place`, plus 100.

/// Runs `body` in clusters of three blocks; each thread writes %r20. %r10 is the rank, %r11 that of
/// the next block, and `place` has 32 words.
Values in_clusters(const std::string& body) {
  const std::string begin =
      ".shared .align 16 .b8 place[128]; .shared .align 8 .b8 object[8];\n"
      "mov.u32 %r10, %cluster_ctarank; add.u32 %r11, %r10, 1; rem.u32 %r11, %r11, 3;\n"
      "shl.b32 %r12, %r2, 2; mov.u32 %r13, place; add.u32 %r13, %r13, %r12;\n"
      "mad.lo.u32 %r14, %r10, 100, %r2; st.shared.u32 [%r13], %r14;\n"
      "setp.eq.u32 %p10, %r2, 0; mov.u32 %r15, object;\n@%p10 mbarrier.init.shared.b64 [%r15], "
      "1;\n";
  return run_u32(begin + sync + body + sync + store_u32("%out", "%r20"),
                 {.grid = {6}, .block = {32}, .cluster = {3, 1, 1}}, {0}, 1, "", 90);
}

template <class Expected>
void expect_in_clusters(const std::string& body, Expected expected) {
  SCOPED_TRACE(body);
  const Values out = in_clusters(body);
  ASSERT_EQ(out.size(), 192U);
  for (U i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], expected(i / 32 % 3, i % 32)) << "thread " << i;
}

U of_next(U rank, U thread) { return (rank + 1) % 3 * 100 + thread; }

TEST(Cluster, LoadsFromAnotherBlock) {
  for (const char* body :
       {"mapa.shared::cluster.u32 %r16, %r13, %r11; ld.shared::cluster.u32 %r20, [%r16];\n",
        "mapa.shared::cluster.u32 %r16, place, %r11; add.u32 %r16, %r16, %r12;\n"
        "ld.relaxed.cluster.shared::cluster.u32 %r20, [%r16];\n",
        "cvt.u64.u32 %l1, %r13; cvta.shared.u64 %l1, %l1; mapa.u64 %l2, %l1, %r11;\n"
        "ld.u32 %r20, [%l2];\n",
        "cvt.u64.u32 %l1, %r13; mapa.shared::cluster.u64 %l2, %l1, %r11;\n"
        "ld.shared::cluster.u32 %r20, [%l2];\n",
        "mapa.shared::cluster.u32 %r16, %r13, %r10; mapa.shared::cluster.u32 %r16, %r16, %r11;\n"
        "ld.shared::cluster.u32 %r20, [%r16];\n"})
    expect_in_clusters(body, of_next);
  expect_in_clusters("ld.shared::cluster.u32 %r20, [%r13];\n",
                     [](U rank, U thread) { return rank * 100 + thread; });
  expect_in_clusters("mapa.shared::cluster.u32 %r16, %r13, %r10; ld.shared.u32 %r20, [%r16];\n",
                     [](U rank, U thread) { return rank * 100 + thread; });
}

TEST(Cluster, StoresToAnotherBlock) {
  expect_in_clusters(
      "mapa.shared::cluster.u32 %r16, %r13, %r11; add.u32 %r17, %r14, 7;\n"
      "st.shared::cluster.u32 [%r16], %r17;\n" +
          sync + "ld.shared.u32 %r20, [%r13];\n",
      [](U rank, U thread) { return (rank + 2) % 3 * 100 + thread + 7; });
}

TEST(Cluster, AtomicOperationsOnAnotherBlock) {
  expect_in_clusters(
      "mapa.shared::cluster.u32 %r16, place, %r11;\n"
      "red.shared::cluster.add.u32 [%r16], 1; atom.shared::cluster.add.u32 %r17, "
      "[%r16], 1;\n" +
          sync + "ld.shared.u32 %r20, [place];\n",
      [](U rank, U) { return rank * 100 + 64; });
}

TEST(Cluster, RankOfAnAddress) {
  const auto next = [](U rank, U) { return (rank + 1) % 3; };
  const auto own = [](U rank, U) { return rank; };
  expect_in_clusters(
      "mapa.shared::cluster.u32 %r16, %r13, %r11;\n"
      "getctarank.shared::cluster.u32 %r20, %r16;\n",
      next);
  expect_in_clusters("getctarank.shared::cluster.u32 %r20, %r13;\n", own);
  expect_in_clusters("getctarank.shared::cluster.u32 %r20, place;\n", own);
  expect_in_clusters(
      "cvt.u64.u32 %l1, %r13; cvta.shared.u64 %l1, %l1; mapa.u64 %l2, %l1, %r11;\n"
      "getctarank.u64 %r20, %l2;\n",
      next);
}

TEST(Cluster, SpacesOfAddresses) {
  const std::string generic =
      "cvt.u64.u32 %l1, %r13; cvta.shared.u64 %l1, %l1; mapa.u64 %l2, %l1, %r11;\n"
      "mapa.u64 %l3, %l1, %r10;\n";
  const auto expect = [&](const std::string& space, const std::string& address, U value) {
    expect_in_clusters(
        generic + "isspacep." + space + " %p1, " + address + "; selp.u32 %r20, 1, 0, %p1;\n",
        [=](U, U) { return value; });
  };
  expect("shared::cluster", "%l1", 1);
  expect("shared::cluster", "%l2", 1);
  expect("shared::cluster", "%out", 0);
  expect("shared::cta", "%l1", 1);
  expect("shared::cta", "%l2", 0);
  expect("shared::cta", "%l3", 1);
  expect("shared", "%l2", 0);
  expect("global", "%l2", 0);
}

// --- The barrier.

TEST(Cluster, TheBarrierDoesNotCountThreadsThatHaveEnded) {
  const std::string body = store_u32("%out", "%r2") + "setp.gt.u32 %p1, %r2, 40;\n@%p1 exit;\n" +
                           sync + "add.u32 %r3, %r2, 100;\n" + store_u32("%out", "%r3");
  std::string unaligned = body;
  for (std::size_t at = 0; (at = unaligned.find(".aligned")) != std::string::npos;)
    unaligned.erase(at, 8);
  for (const std::string& each : {body, unaligned}) {
    const Values out =
        run_u32(each, {.grid = {4}, .block = {64}, .cluster = {4, 1, 1}}, {0}, 1, "", 90);
    for (U i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], i % 64 > 40 ? i % 64 : i % 64 + 100) << "thread " << i;
  }
}

TEST(Cluster, TheBarrierOfABlockWithoutCluster) {
  const std::string body =
      ".shared .align 4 .b8 place[256];\nshl.b32 %r3, %r2, 2; mov.u32 %r4, place; add.u32 %r5, "
      "%r4, "
      "%r3;\nst.shared.u32 [%r5], %r2;\n" +
      sync + "sub.u32 %r6, 252, %r3; add.u32 %r6, %r6, %r4; ld.shared.u32 %r7, [%r6];\n" +
      store_u32("%out", "%r7");
  const Values out = run_u32(body, {.grid = {2}, .block = {64}}, {0}, 1, "", 90);
  for (U i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 63 - i % 64) << "thread " << i;
}

// --- Asynchronous stores to the next block, which waits for the bytes that all its words have.

std::string sent(const std::string& instructions, U bytes) {
  return "@%p10 mbarrier.arrive.expect_tx.shared.b64 _, [%r15], " + std::to_string(bytes) +
         ";\nmapa.shared::cluster.u32 %r16, %r13, %r11; mapa.shared::cluster.u32 %r17, %r15, "
         "%r11;\n" +
         sync + instructions +
         "\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r15], 0;\n"
         "@!%p1 bra AGAIN;\nld.shared.u32 %r20, [%r13];\n";
}

TEST(Cluster, AsynchronousStores) {
  const auto previous = [](U rank, U thread) { return (rank + 2) % 3 * 100 + thread; };
  for (const char* type : {"b32", "u32", "s32", "f32"}) {
    const bool is_float = std::string(type) == "f32";
    expect_in_clusters(sent(std::string(is_float ? "mov.b32 %f1, %r14;\n" : "") +
                                "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." +
                                type + " [%r16], " + (is_float ? "%f1" : "%r14") + ", [%r17];",
                            128),
                       previous);
  }
  // Threads with a number that the vector divides store for the others.
  const auto vector = [&](U count, const std::string& value) {
    const std::string mask = std::to_string(count - 1), elements = std::to_string(count);
    expect_in_clusters(sent("add.u32 %r21, %r14, 1; add.u32 %r22, %r14, 2; add.u32 %r23, %r14, 3;\n"
                            "mov.b64 %l4, {%r14, %r21}; mov.b64 %l5, {%r22, %r23};\n"
                            "and.b32 %r24, %r2, " +
                                mask +
                                "; setp.eq.u32 %p2, %r24, 0;\n"
                                "@%p2 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" +
                                value + ", [%r17];",
                            128),
                       previous);
  };
  vector(2, ".v2.b32 [%r16], {%r14, %r21}");
  vector(4, ".v4.b32 [%r16], {%r14, %r21, %r22, %r23}");
  vector(2, ".b64 [%r16], %l4");
  vector(4, ".v2.u64 [%r16], {%l4, %l5}");
}

TEST(Cluster, AsynchronousReductions) {
  struct Row {
    const char* op;
    U (*expected)(U old, U value);
  };
  const Row rows[] = {
      {"add.u32", [](U old, U value) { return old + value; }},
      {"add.s32", [](U old, U value) { return old + value; }},
      {"min.u32", [](U old, U value) { return std::min(old, value); }},
      {"max.u32", [](U old, U value) { return std::max(old, value); }},
      {"min.s32",
       [](U old, U value) {
         return static_cast<U>(std::min(static_cast<int>(old), static_cast<int>(value)));
       }},
      {"max.s32",
       [](U old, U value) {
         return static_cast<U>(std::max(static_cast<int>(old), static_cast<int>(value)));
       }},
      {"and.b32", [](U old, U value) { return old & value; }},
      {"or.b32", [](U old, U value) { return old | value; }},
      {"xor.b32", [](U old, U value) { return old ^ value; }},
      {"inc.u32", [](U old, U value) { return old >= value ? 0 : old + 1; }},
      {"dec.u32", [](U old, U value) { return old == 0 || old > value ? value : old - 1; }},
  };
  for (const Row& row : rows) {
    // Half of the values are negative.
    const auto value = [](U rank, U thread) { return 150 - (rank * 100 + thread) * 2; };
    expect_in_clusters(
        sent("mul.lo.u32 %r21, %r14, 2; sub.u32 %r21, 150, %r21;\n"
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
                 std::string(row.op) + " [%r16], %r21, [%r17];",
             128),
        [&](U rank, U thread) {
          return row.expected(rank * 100 + thread, value((rank + 2) % 3, thread));
        });
  }
}

// --- Forms that do not exist.

std::string refusal(const std::string& instruction, int capability) {
  Device device;
  const Caught caught = caught_from([&] {
    Kernels kernels(device,
                    module_head("sm_" + std::to_string(capability)) + kernel({"out"}, instruction));
    kernels.run("test", {.grid = {1}, .block = {1}}, device.allocate(4));
  });
  return caught.kind == FaultKind::illegal_instruction ? caught.text : "";
}

TEST(Cluster, RefusesOtherForms) {
  for (const char* instruction :
       {"mapa.shared::cluster.u32 %r3, %r4, 0;", "getctarank.shared::cluster.u32 %r3, %r4;",
        "barrier.cluster.arrive;", "barrier.cluster.wait;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], %r4, [%r5];"})
    EXPECT_NE(refusal(instruction, 80), "") << instruction;
  for (const char* instruction :
       {"mapa.shared::cta.u32 %r3, %r4, 0;", "mapa.u16 %h1, %h2, 0;",
        "getctarank.shared::cluster.b32 %r3, %r4;", "barrier.cluster.arrive.acquire;",
        "barrier.cluster.wait.relaxed;", "barrier.cluster.sync;", "barrier.cluster.arrive 0;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b16 [%r3], %h4, [%r5];",
        "st.async.weak.shared::cta.mbarrier::complete_tx::bytes.b32 [%r3], %r4, [%r5];",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r3], {%l1, %l1, %l1, "
        "%l1}, [%r5];",
        "st.async.mmio.release.sys.global.b32 [%out], %r4;",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64 [%r3], "
        "%l4, [%r5];",
        "red.async.relaxed.gpu.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3], %r4, "
        "[%r5];",
        "mbarrier.init.shared::cluster.b64 [%r3], 1;",
        "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r3], 0;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 %l1, [%r3];"})
    EXPECT_NE(refusal(instruction, 90), "") << instruction;
}

}  // namespace
}  // namespace emulator::test
