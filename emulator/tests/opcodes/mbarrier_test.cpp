#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA: mbarrier. One thread unless a test says otherwise: a phase ends by its own arrivals.
namespace emulator::test {
namespace {

const std::string object =
    ".shared .align 8 .b8 place[16];\nmov.u32 %r10, place;\nmov.u64 %l10, place;\n";
const Shape one_thread{.grid = {1}, .block = {1}};

std::string selected(const std::string& to, const std::string& predicate) {
  return "selp.u32 " + to + ", 1, 0, " + predicate + ";\n";
}

// Returns what the body leaves in %r20 to %r2(count - 1).
std::vector<std::uint32_t> run(const std::string& body, unsigned count, int capability = 90) {
  std::string stores =
      "mul.wide.u32 %l30, %r0, " + std::to_string(4 * count) + ";\nadd.s64 %l30, %l30, %out;\n";
  for (unsigned i = 0; i < count; ++i)
    stores += "st.global.u32 [%l30+" + std::to_string(4 * i) + "], %r2" + std::to_string(i) + ";\n";
  return run_u32(object + body + stores, one_thread, {0}, count, "", capability);
}

using Values = std::vector<std::uint32_t>;

TEST(Mbarrier, PhasesAndTheirStates) {
  for (const std::string wait : {"test_wait", "try_wait"}) {
    const auto values =
        run("mbarrier.init.shared.b64 [%r10], 2;\n"
            "mbarrier.arrive.shared.b64 %l1, [%r10];\nmbarrier.pending_count.b64 %r20, %l1;\n"
            "mbarrier." +
                wait + ".shared.b64 %p1, [%r10], %l1;\n" + selected("%r21", "%p1") +
                "mbarrier.arrive.shared.b64 %l2, [%r10];\nmbarrier.pending_count.b64 %r22, %l2;\n"
                "mbarrier." +
                wait + ".shared.b64 %p1, [%r10], %l1;\n" + selected("%r23", "%p1") + "mbarrier." +
                wait + ".shared.b64 %p1, [%r10], %l2;\n" + selected("%r24", "%p1") +
                "mbarrier.arrive.shared.b64 %l3, [%r10];\n"
                "mbarrier." +
                wait + ".shared.b64 %p1, [%r10], %l3;\n" + selected("%r25", "%p1"),
            6);
    EXPECT_EQ(values, (Values{2, 0, 1, 1, 1, 0})) << wait;
  }
}

TEST(Mbarrier, Parity) {
  const auto parity = [](int number, const std::string& of) {
    return "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], " + of + ";\n" +
           selected("%r2" + std::to_string(number), "%p1");
  };
  const auto values =
      run("mbarrier.init.shared.b64 [%r10], 1;\n" + parity(0, "0") + parity(1, "1") +
              "mbarrier.arrive.shared.b64 _, [%r10];\n" + parity(2, "0") + parity(3, "1") +
              "mbarrier.arrive.shared.b64 _, [%r10];\nmov.u32 %r5, 1;\n" + parity(4, "0") +
              parity(5, "%r5"),
          6, 80);
  EXPECT_EQ(values, (Values{0, 1, 1, 0, 0, 1}));
}

TEST(Mbarrier, AllSpellingsOfArrivals) {
  for (const char* arrivals :
       {"mbarrier.arrive.shared.b64 %l1, [%r10]; mbarrier.arrive.shared::cta.b64 _, [%r10];",
        "mbarrier.arrive.b64 %l1, [%l11]; mbarrier.arrive.b64 %l2, [%l11];",
        "mbarrier.arrive.shared.b64 %l1, [%l10]; mbarrier.arrive.shared.b64 %l1, [place];",
        "mbarrier.arrive.shared::cta.b64 %l1, [%r10], 2;",
        "mbarrier.arrive.release.cta.shared::cta.b64 %l1, [%r10], 2;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10], 2;",
        "mbarrier.arrive.relaxed.cta.shared::cta.b64 %l1, [%r10], 2;",
        "mbarrier.arrive.noComplete.shared.b64 %l1, [%r10], 1; mbarrier.arrive.shared.b64 _, "
        "[%r10];",
        "mbarrier.arrive.noComplete.release.cta.shared.b64 %l1, [%r10], 1; "
        "mbarrier.arrive.shared.b64 _, [%r10];"}) {
    SCOPED_TRACE(arrivals);
    const auto values =
        run("cvta.shared.u64 %l11, %l10;\nmbarrier.init.shared::cta.b64 [%r10], 2;\n" +
                std::string(arrivals) + "\nmbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;\n" +
                selected("%r20", "%p1"),
            1);
    EXPECT_EQ(values, Values{1});
  }
}

TEST(Mbarrier, AllSpellingsOfWaits) {
  for (const char* wait :
       {"test_wait.shared.b64 %p1, [%r10], %l1", "test_wait.b64 %p1, [%l11], %l1",
        "test_wait.acquire.cta.shared::cta.b64 %p1, [%r10], %l1",
        "test_wait.relaxed.cluster.shared::cta.b64 %p1, [%r10], %l1",
        "test_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r10], 0",
        "try_wait.shared::cta.b64 %p1, [%r10], %l1", "try_wait.shared.b64 %p1, [%r10], %l1, 100",
        "try_wait.acquire.cluster.shared::cta.b64 %p1, [%r10], %l1, %r4",
        "try_wait.parity.shared.b64 %p1, [%r10], 0, 100",
        "try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [%r10], 0, %r4"}) {
    SCOPED_TRACE(wait);
    const std::string test = std::string("mbarrier.") + wait + ";\n";
    const auto values =
        run("cvta.shared.u64 %l11, %l10;\nmov.u32 %r4, 7;\nmbarrier.init.shared.b64 [%r10], 2;\n"
            "mbarrier.arrive.shared.b64 %l1, [%r10];\n" +
                test + selected("%r20", "%p1") + "mbarrier.arrive.shared.b64 _, [%r10];\n" + test +
                selected("%r21", "%p1"),
            2);
    EXPECT_EQ(values, (Values{0, 1}));
  }
}

// A dropped arrival counts in this phase, and later ones expect one less.
TEST(Mbarrier, DroppedArrivals) {
  for (const std::string drop : {"mbarrier.arrive_drop.shared.b64 _, [%r10];",
                                 "mbarrier.arrive_drop.shared.b64 %l5, [%r10];",
                                 "mbarrier.arrive_drop.release.cta.shared::cta.b64 %l5, [%r10], 1;",
                                 "mbarrier.arrive_drop.noComplete.shared.b64 %l5, [%r10], 1;"}) {
    SCOPED_TRACE(drop);
    const auto values = run("mbarrier.init.shared.b64 [%r10], 2;\n" + drop +
                                "\nmbarrier.arrive.shared.b64 %l1, [%r10];\n"
                                "mbarrier.arrive.shared.b64 %l2, [%r10];\n"
                                "mbarrier.pending_count.b64 %r20, %l1;\n"
                                "mbarrier.pending_count.b64 %r21, %l2;\n"
                                "mbarrier.test_wait.shared.b64 %p1, [%r10], %l2;\n" +
                                selected("%r22", "%p1"),
                            3);
    EXPECT_EQ(values, (Values{1, 1, 1}));
  }
}

// A phase ends when neither arrivals nor bytes are pending, whichever comes last.
TEST(Mbarrier, Transactions) {
  const auto parity = [](int number) {
    return "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;\n" +
           selected("%r2" + std::to_string(number), "%p1");
  };
  const std::string complete = "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r10], 16;\n";
  EXPECT_EQ(run("mbarrier.init.shared.b64 [%r10], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 32;\n" +
                    parity(0) + complete + parity(1) + complete + parity(2),
                3),
            (Values{0, 0, 1}));
  EXPECT_EQ(run("mbarrier.init.shared.b64 [%r10], 1;\n" + complete +
                    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 16;\n" + parity(0) +
                    "mbarrier.arrive.release.cta.shared::cta.b64 %l1, [%r10];\n" + parity(1),
                2),
            (Values{0, 1}));
  EXPECT_EQ(run("mbarrier.init.shared.b64 [%r10], 1;\n" + complete +
                    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %l1, [%r10], 16;\n" +
                    parity(0),
                1),
            (Values{1}));
}

TEST(Mbarrier, MayBeInitialisedAgainBehindItsEnd) {
  const auto values =
      run("mbarrier.init.shared.b64 [%r10], 1;\nmbarrier.inval.shared.b64 [%r10];\n"
          "st.shared.u64 [%r10], 7;\nmbarrier.init.shared.b64 [%r10], 3;\n"
          "mbarrier.arrive.shared.b64 %l1, [%r10];\nmbarrier.pending_count.b64 %r20, %l1;\n",
          1);
  EXPECT_EQ(values, Values{3});
}

std::string refusal(const std::string& body) {
  const Caught caught = caught_from([&] { run(body + "mov.u32 %r20, 0;\n", 1); });
  EXPECT_TRUE(caught.any) << body;
  EXPECT_EQ(caught.kind, FaultKind::undefined) << caught.text;
  return caught.text;
}

TEST(Mbarrier, UndefinedUses) {
  const std::string init = "mbarrier.init.shared.b64 [%r10], 1;\n";
  const auto expect = [](const std::string& body, const char* text) {
    EXPECT_NE(refusal(body).find(text), std::string::npos) << refusal(body);
  };
  expect("mbarrier.arrive.shared.b64 _, [%r10];", "no initialised");
  expect(init + init, "not invalidated");
  expect("mbarrier.init.shared.b64 [%r10], 0;", "expects 1 to");
  expect("mbarrier.init.shared.b64 [%r10], 1048576;", "expects 1 to");
  expect(init + "mbarrier.arrive.shared.b64 _, [%r10], 2;", "more arrivals");
  expect(init + "mbarrier.arrive.shared.b64 _, [%r10], 0;", "a count of arrivals");
  expect(init + "mbarrier.arrive.noComplete.shared.b64 %l1, [%r10], 1;", ".noComplete");
  expect(init + "mbarrier.arrive_drop.shared.b64 _, [%r10], 2;", "are dropped");
  expect(init + "mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 1048576;", "bytes are pending");
  expect(init + "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r10], 1048576;", "nobody expects");
  expect(init + "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 2;", "a parity is");
  expect(init + "mov.u64 %l1, 1; mbarrier.test_wait.shared.b64 %p1, [%r10], %l1;", "not from this");
  expect(init +
             "mbarrier.init.shared.b64 [%r10+8], 1; mbarrier.arrive.shared.b64 %l1, [%r10+8];\n"
             "mbarrier.test_wait.shared.b64 %p1, [%r10], %l1;",
         "not from this");
  expect(init + "ld.shared.u32 %r4, [%r10+4];", "an mbarrier object is");
  expect(init + "st.shared.u8 [%r10+7], 0;", "an mbarrier object is");
  expect(init + "atom.shared.add.u32 %r4, [%r10], 1;", "an mbarrier object is");
  expect(init +
             "mbarrier.init.shared.b64 [%r10+8], 1; mbarrier.inval.shared.b64 [%r10];\n"
             "mbarrier.arrive.shared.b64 _, [%r10];",
         "no initialised");
}

TEST(Mbarrier, LeavesNothingBehind) {
  EXPECT_EQ(caught_from([] {
              run("mbarrier.init.shared.b64 [%r10], 1; mbarrier.inval.shared.b64 [%r10];\n"
                  "ld.shared.u32 %r20, [%r10];\n",
                  1);
            }).kind,
            FaultKind::uninitialised_read);
}

TEST(Mbarrier, AddressesOfOtherSpaces) {
  EXPECT_EQ(caught_from([] { run("mbarrier.init.b64 [%in], 1; mov.u32 %r20, 0;", 1); }).kind,
            FaultKind::illegal_address);
  EXPECT_EQ(
      caught_from([] { run("mbarrier.init.shared.b64 [%r10+4], 1; mov.u32 %r20, 0;", 1); }).kind,
      FaultKind::misaligned_address);
  EXPECT_EQ(
      caught_from([] { run("mbarrier.init.shared.b64 [%r10+4096], 1; mov.u32 %r20, 0;", 1); }).kind,
      FaultKind::illegal_address);
}

TEST(Mbarrier, FencesAndControlOfGridsAreNoOperations) {
  std::string body = "mov.u32 %r20, 5;\n";
  for (const char* each :
       {"fence.proxy.async;", "fence.proxy.async.global;", "fence.proxy.async.shared::cta;",
        "fence.proxy.async.shared::cluster;", "fence.proxy.alias;",
        "fence.mbarrier_init.release.cluster;", "fence.acquire.cta;", "fence.release.gpu;",
        "fence.acq_rel.cluster;", "griddepcontrol.wait;", "griddepcontrol.launch_dependents;"})
    body += std::string(each) + "\n";
  EXPECT_EQ(run(body, 1), Values{5});
}

TEST(Mbarrier, CountsOfRegisters) {
  const auto load = [](const char* instruction, const char* target) {
    return caught_from([&] {
      Device device;
      Kernels kernels(device, std::string(".version 8.6\n.target ") + target +
                                  "\n.address_size 64\n" + kernel({}, instruction));
      kernels.run("test", {.grid = {1}, .block = {128}});
    });
  };
  EXPECT_FALSE(load("setmaxnreg.inc.sync.aligned.u32 240;", "sm_90a").any);
  EXPECT_FALSE(load("setmaxnreg.dec.sync.aligned.u32 24;", "sm_90a").any);
  for (const char* wrong :
       {"setmaxnreg.inc.sync.aligned.u32 20;", "setmaxnreg.inc.sync.aligned.u32 264;",
        "setmaxnreg.inc.sync.aligned.u32 100;", "setmaxnreg.inc.sync.u32 96;"})
    EXPECT_TRUE(load(wrong, "sm_90a").any) << wrong;
}

}  // namespace
}  // namespace emulator::test
