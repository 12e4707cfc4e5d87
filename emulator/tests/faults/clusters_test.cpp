#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"
#include "emulator/tests/module.h"

// Mistakes of the blocks of a cluster must be found whatever the order, and their right twins pass.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 10;
constexpr unsigned threads = 64;

struct Case {
  int mistake;
  FaultKind kind;
  std::string text;  // part of the report
};

/// `name(out, mistake)`. `rights`: which are none.
void check(const std::string& name, const std::vector<Case>& cases, unsigned blocks = 2,
           const std::vector<int>& rights = {0}) {
  FaultTest test("clusters_sm90");
  const Shape shape{.grid = {2 * blocks}, .block = {threads}, .cluster = {blocks, 1, 1}};
  const auto out = test.device.allocate(2 * blocks * threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    for (const int right : rights) test.expect_none(name, shape, out, right);
    for (const Case& each : cases) {
      SCOPED_TRACE(each.mistake);
      const Caught caught = caught_from([&] { test.kernels.run(name, shape, out, each.mistake); });
      EXPECT_TRUE(caught.any) << "not found";
      if (!caught.any) continue;
      EXPECT_EQ(caught.kind, each.kind) << caught.text;
      EXPECT_NE(caught.text.find(each.text), std::string::npos) << caught.text;
    }
  });
}

constexpr auto race = FaultKind::race, outside = FaultKind::illegal_address,
               undefined = FaultKind::undefined;

TEST(ClusterFault, NoBarrierBeforeOrBehindTheUse) {
  const std::vector<Case> cases{{1, outside, "may not have started"}, {2, outside, "end"}};
  check("neighbour", cases);
  check("neighbour", cases, 4);
}

TEST(ClusterFault, ABarrierOfTheBlockAlone) {
  check("overwritten", {{1, race, "without order between"}});
  check("written", {{1, race, "without order between"}});
  check("overwritten", {{1, race, "without order between"}}, 3);
}

TEST(ClusterFault, TwoOthersInOnePlace) {
  check("collision", {{1, race, "without order between"}}, 4);
}

TEST(ClusterFault, NotAtomicForTheCluster) {
  check("counted", {{1, race, "without order"}, {2, race, "without order"}}, 4);
}

TEST(ClusterFault, AFlagWithoutRelease) {
  check("flag",
        {{1, race, "without order"}, {2, race, "without order"}, {3, race, "without order"}}, 3,
        {0, -1});
}

TEST(ClusterFault, BetweenArrivalAndWait) { check("split", {{1, race, "without order"}}); }

TEST(ClusterFault, ARelaxedArrivalWithoutFence) { check("relaxed", {{1, race, "without order"}}); }

TEST(ClusterFault, MisuseOfTheBarrier) {
  check("misused", {{1, undefined, "arrives at the cluster's barrier again"},
                    {2, undefined, "without having arrived"},
                    {3, FaultKind::divergent_barrier, "not all threads of the cluster"}});
}

TEST(ClusterFault, PastTheEndOfAnothersMemory) {
  check("past_the_end", {{1, outside, "bytes of shared memory in the other block"}});
}

TEST(ClusterFault, GlobalMemory) {
  FaultTest test("clusters_sm90");
  const Shape shape{.grid = {8}, .block = {threads}, .cluster = {4, 1, 1}};
  const auto out = test.device.allocate(8 * threads * sizeof(int)),
             place = test.device.allocate(2 * threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("message", shape, out, place, 0);
    test.expect_fault({race, {}, {}, {}}, "message", shape, out, place, 1);
  });
}

// A flag in global memory orders shared memory of the cluster too; a fence of the cluster does not
// reach other ones.
TEST(ClusterFault, FlagsInGlobalMemory) {
  FaultTest test("clusters_sm90");
  const Shape shape{.grid = {4}, .block = {threads}, .cluster = {2, 1, 1}};
  const auto out = test.device.allocate(threads * sizeof(int)),
             place = test.device.allocate(threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto flag = [&] { return test.device.upload(std::vector<int>{0}); };
    for (const int distance : {1, 2})
      test.expect_none("told", shape, out, place, flag(), distance, 0);
    test.expect_none("told", shape, out, place, flag(), 1, 1);
    const Report report{race, {}, {}, {}};
    test.expect_fault(report, "told", shape, out, place, flag(), 2, 1);
    for (const int distance : {1, 2})
      test.expect_fault(report, "told", shape, out, place, flag(), distance, 2);
  });
}

TEST(ClusterFault, SignalsToAnMbarrier) {
  check("signal",
        {{1, outside, "may not have started"},
         {2, race, "without order"},
         {3, FaultKind::endless, "nothing completes the phase"}},
        3);
}

TEST(ClusterFault, AsynchronousStores) {
  check("sent", {{1, race, ""},
                 {2, undefined, "the block ends and nothing has waited"},
                 {3, undefined, "the block to which the copy goes"}});
  check("added", {{1, race, "without order"}});
}

TEST(ClusterFault, CopiesToAnotherBlock) {
  check("copied", {{1, race, "fence.proxy.async"}, {2, race, "nothing has waited"}, {3, race, ""}});
}

/// One copy for several blocks, each with an mbarrier object of its own.
TEST(ClusterFault, CopiesToSeveralBlocks) {
  FaultTest test("clusters_sm90");
  constexpr unsigned blocks = 4;
  const Shape shape{.grid = {2 * blocks}, .block = {threads}, .cluster = {blocks, 1, 1}};
  std::vector<int> values(threads), expected;
  for (unsigned i = 0; i < threads; ++i) values[i] = static_cast<int>(i * i);
  for (unsigned block = 0; block < 2 * blocks; ++block) {
    const unsigned rank = block % blocks;
    const bool gets = rank != 0 && rank != blocks - 1;
    for (const int value : values) expected.push_back((gets ? value : -1) + static_cast<int>(rank));
  }
  const auto in = test.device.upload(values),
             out = test.device.allocate(expected.size() * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("multicast", shape, out, in, 0);
    EXPECT_EQ(test.device.download<int>(out, expected.size()), expected);
    const auto expect = [&](int mistake, FaultKind kind, const std::string& text) {
      SCOPED_TRACE(mistake);
      const Caught caught =
          caught_from([&] { test.kernels.run("multicast", shape, out, in, mistake); });
      ASSERT_TRUE(caught.any) << "not found";
      EXPECT_EQ(caught.kind, kind) << caught.text;
      EXPECT_NE(caught.text.find(text), std::string::npos) << caught.text;
    };
    expect(1, FaultKind::endless, "nothing completes the phase");
    expect(2, outside, "may not have started");
    expect(3, race, "");
  });
}

}  // namespace
}  // namespace emulator::test
