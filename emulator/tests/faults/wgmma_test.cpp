#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"

// Mistakes with products of warpgroups must be found whatever the order, and their mended twins
// pass.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 10;

struct Case {
  int mistake;
  FaultKind kind;
  std::string text{};
};

class WgmmaFault : public testing::Test {
 protected:
  WgmmaFault() : test("wgmma_sm90a"), out(test.device.allocate(256 * sizeof(float))) {
    test.device.set_gpu("h100");
  }

  void check(const char* name, const std::vector<Case>& cases, unsigned threads = 128,
             const std::vector<int>& right = {0}) {
    const Shape shape{.grid = {1}, .block = {threads}};
    for_seeds(test.kernels, seeds, [&] {
      for (const int mistake : right) {
        SCOPED_TRACE(mistake);
        test.expect_none(name, shape, out, mistake);
      }
      for (const Case& each : cases) {
        SCOPED_TRACE(each.mistake);
        try {
          test.kernels.run(name, shape, out, each.mistake);
          ADD_FAILURE() << "not found";
        } catch (const Fault& fault) {
          expect_report(fault, name, {each.kind, std::nullopt, 0, std::nullopt});
          EXPECT_NE(std::string(fault.what()).find(each.text), std::string::npos) << fault.what();
        }
      }
    });
  }

  FaultTest test;
  std::uintptr_t out;
};

TEST_F(WgmmaFault, RegistersOfSums) {
  check("registers",
        {{1, FaultKind::undefined, "a register of the sums of the wgmma.mma_async"},
         {2, FaultKind::undefined, "nothing has waited for it"},
         {3, FaultKind::undefined, "a wgmma.fence is missing"},
         {4, FaultKind::undefined, "another instruction has accessed a register of its sums"},
         {5, FaultKind::undefined, "has used a register of its sums since the last wgmma.fence"}},
        128, {0, 6});
}

TEST_F(WgmmaFault, RegistersOfFactors) {
  check("factors_in_registers",
        {{1, FaultKind::undefined, "a register with factors of the wgmma.mma_async"},
         {2, FaultKind::undefined, "another instruction has accessed a register of its factor a"}});
}

TEST_F(WgmmaFault, SharedMemory) {
  check("shared_memory",
        {{1, FaultKind::race, "without a fence.proxy.async between"},
         {2, FaultKind::race},
         {3, FaultKind::race, "nothing has waited for it (wgmma.wait_group)"},
         {4, FaultKind::illegal_address, "a matrix descriptor leads to 16 bytes"},
         {5, FaultKind::uninitialised_read, "nothing has written all of them"},
         {6, FaultKind::undefined, "bits that have no documented meaning"},
         {7, FaultKind::undefined, "the matrix descriptor of b is"}},
        128, {0, -1});
}

TEST_F(WgmmaFault, OverwrittenByAnotherWarpgroup) {
  check("two_warpgroups", {{1, FaultKind::race}, {2, FaultKind::race}}, 256);
}

TEST_F(WgmmaFault, OverwrittenBehindAnAnnouncement) {
  check("announced", {{1, FaultKind::race}}, 256);
}

TEST_F(WgmmaFault, FactorsOfABulkCopy) {
  const Shape shape{.grid = {1}, .block = {128}};
  const auto in = test.device.upload(std::vector<std::uint16_t>(16 * 16, 0x3c00));
  for_seeds(test.kernels, 4 * seeds, [&] {
    test.expect_none("bulk_factors", shape, in, out, 0);
    test.expect_fault({FaultKind::race, std::nullopt, 0, std::nullopt}, "bulk_factors", shape, in,
                      out, 1);
  });
  EXPECT_EQ(test.device.download<float>(out, 128), std::vector<float>(128, 8 * 16));
}

TEST_F(WgmmaFault, WarpsThatDoNotCome) {
  check("warps", {{1, FaultKind::divergent_barrier},
                  {2, FaultKind::divergent_barrier, "in its place"},
                  {3, FaultKind::divergent_barrier, "warp 2 has not come"},
                  {4, FaultKind::divergent_barrier, "warp 2 has not come"},
                  {5, FaultKind::divergent_barrier, "warp 2 has not come"}});
}

TEST_F(WgmmaFault, AWarpgroupHasFourWarps) {
  const Shape shape{.grid = {1}, .block = {96}};
  test.expect_fault({FaultKind::divergent_barrier, std::nullopt, 0, std::nullopt}, "warps", shape,
                    out, 0);
}

TEST_F(WgmmaFault, TwoGroups) {
  check("two_groups", {{1, FaultKind::undefined, "a register of the sums"}});
  EXPECT_EQ(test.device.download<float>(out, 128), std::vector<float>(128, 8 * 16 * 2 + 8));
}

TEST_F(WgmmaFault, FunctionThatReturnsBeforeTheWait) {
  check("in_function", {{1, FaultKind::undefined, "returns while a wgmma.mma_async"}});
  EXPECT_EQ(test.device.download<float>(out, 128), std::vector<float>(128, 8 * 16));
}

TEST_F(WgmmaFault, UndefinedRegisters) {
  const auto nothing = test.device.allocate(64);
  const Shape shape{.grid = {1}, .block = {128}};
  const Report report{FaultKind::uninitialised_read, std::nullopt, 0, std::nullopt};
  test.expect_none("undefined", shape, out, nothing, 0);
  EXPECT_EQ(test.device.download<float>(out, 128), std::vector<float>(128, 8 * 16));
  test.expect_fault(report, "undefined", shape, out, nothing, 1);
  test.expect_fault(report, "undefined", shape, out, nothing, 2);
}

// A race between a product and a write is told at the write, with both lines.
TEST_F(WgmmaFault, NamesTheProduct) {
  const Shape shape{.grid = {1}, .block = {128}};
  const std::string ptx = ptx_of("wgmma_sm90a");
  try {
    test.kernels.run("shared_memory", shape, out, 3);
    ADD_FAILURE() << "not found";
  } catch (const Fault& fault) {
    const std::string text = fault.what(), words = "the wgmma.mma_async at line ";
    const std::size_t at = text.find(words);
    ASSERT_NE(at, std::string::npos) << text;
    const auto line = std::stoi(text.substr(at + words.size()));
    std::size_t begin = 0;
    for (int i = 1; i < line; ++i) begin = ptx.find('\n', begin) + 1;
    EXPECT_EQ(ptx.substr(begin, 15), "wgmma.mma_async") << text;
  }
}

TEST_F(WgmmaFault, CountsOfRegisters) {
  check("counts_of_registers",
        {{1, FaultKind::undefined, "is not synchronised behind the setmaxnreg before"},
         {2, FaultKind::undefined, "the warp has 40 registers"}});
}

}  // namespace
}  // namespace emulator::test
