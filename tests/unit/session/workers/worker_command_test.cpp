// Which threads spin while others want their cores.
#include "session/workers/worker_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "kernels/device/device_id.h"
#include "session/kernels/kernel_process.h"

namespace assay {
namespace {

class WorkerCommands : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMP_WAIT_POLICY", "OMP_PROC_BIND"}) {
      if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " is the user's";
    }
  }

  static std::string value(const WorkerCommand& command, const std::string& name) {
    const auto found = std::ranges::find(command.environment, name,
                                         &decltype(command.environment)::value_type::first);
    return found == command.environment.end() ? "" : found->second;
  }
  static WorkerCommand command_of(const std::string& kernels, bool check_only,
                                  const std::string& backend) {
    SelectionOptions options;
    options.kernels = kernels;
    options.check_only = check_only;
    WorkerCommand command = worker_command(options);
    share_cores_on(command, {{backend, 0}});
    return command;
  }
};

TEST_F(WorkerCommands, OfTheBuiltInKernelsOfTheHostSpinAndStayPut) {
  const WorkerCommand timed = command_of("", false, "cpu");
  EXPECT_EQ(value(timed, "OMP_WAIT_POLICY"), "");
  EXPECT_EQ(value(timed, "OMP_PROC_BIND"), "true");
}

TEST_F(WorkerCommands, ShareTheCoresWhereTheyOnlyJudge) {
  for (const auto& [kernels, check_only, backend] : {std::tuple{"", true, "cpu"},
                                                     {"", false, "cuda"},
                                                     {"mine.so", false, "cpu"},
                                                     {"mine.so", true, "cpu"},
                                                     {"mine.so", false, "cuda"},
                                                     {"mine.so", true, "cuda"}}) {
    const WorkerCommand judge = command_of(kernels, check_only, backend);
    EXPECT_EQ(value(judge, "OMP_WAIT_POLICY"), "passive") << kernels << check_only << backend;
    EXPECT_EQ(value(judge, "OMP_PROC_BIND"), "false") << kernels << check_only << backend;
  }
}

TEST_F(WorkerCommands, OnlyKernelsThatAreTimedOnTheHostSpin) {
  EXPECT_EQ(value(command_of("mine.so", false, "cpu"), judge_alone_shares_name), "1");
  EXPECT_EQ(value(command_of("mine.so", true, "cpu"), judge_alone_shares_name), "");
  EXPECT_EQ(value(command_of("mine.so", false, "cuda"), judge_alone_shares_name), "");
}

}  // namespace
}  // namespace assay
