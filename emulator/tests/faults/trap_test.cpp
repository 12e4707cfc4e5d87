#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"

namespace emulator::test {
namespace {

TEST(Trap, EndsTheLaunchAndNamesTheThread) {
  FaultTest test("traps");
  const auto out = test.device.allocate(64 * sizeof(int));
  test.expect_none("trap_if", {.grid = {1}, .block = {64}}, out, 64);
  test.expect_fault({FaultKind::trap, std::nullopt, 0, 37}, "trap_if", {.grid = {1}, .block = {64}},
                    out, 37);
  // The machine works on afterwards.
  test.expect_none("trap_if", {.grid = {1}, .block = {64}}, out, -1);
}

TEST(Trap, AssertShowsItsConditionAndPlace) {
  FaultTest test("traps");
  const auto out = test.device.allocate(64 * sizeof(int));
  test.expect_none("assert_below", {.grid = {1}, .block = {64}}, out, 64);
  try {
    test.kernels.run("assert_below", {.grid = {1}, .block = {64}}, out, 63);
    ADD_FAILURE() << "not found";
  } catch (const Fault& fault) {
    expect_report(fault, "assert_below", {FaultKind::trap, std::nullopt, 0, 63});
    const std::string text = fault.what();
    EXPECT_NE(text.find("traps.cu:"), std::string::npos) << text;
    EXPECT_NE(text.find("< limit"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace emulator::test
