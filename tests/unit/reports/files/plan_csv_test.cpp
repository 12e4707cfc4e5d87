#include "reports/files/plan_csv.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

TEST(PlanCsv, IsReadBackAsItWasWritten) {
  const TemporaryDirectory directory;
  const std::vector<PlanRow> plan{{"copy/f32/n=1", "cpu", "batch", 1, ""},
                                  {"a,\"b\"", "sim:0+sim:1", "", 2, "too few devices: 1,\n2"}};
  write_plan(directory / "plan.csv", plan);
  const auto back = read_plan(directory / "plan.csv");
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].case_id, plan[1].case_id);
  EXPECT_EQ(back[1].device, plan[1].device);
  EXPECT_EQ(back[1].timing, "");
  EXPECT_EQ(back[1].repeat, 2);
  EXPECT_EQ(back[1].skip_reason, plan[1].skip_reason);
}

TEST(PlanCsv, WhatIsNoPlanIsRefused) {
  const TemporaryDirectory directory;
  const auto path = directory / "plan.csv";
  EXPECT_THROW(read_plan(path), UsageError);
  for (const char* text :
       {"", "case_id,device\nx,cpu\n", "case_id,device,timing,repeat,skip_reason\nx,cpu\n",
        "case_id,device,timing,repeat,skip_reason\nx,cpu,,many,\n"}) {
    write_file(path, text);
    EXPECT_THROW(read_plan(path), UsageError) << text;
  }
}

TEST(PlanCsv, WhatNoRunPlansIsNamed) {
  const TemporaryDirectory directory;
  const auto refusal = [&](const std::string& rows) {
    write_file(directory / "plan.csv",
               "case_id,device,timing,repeat,skip_reason\nx,cpu,batch,1,\n" + rows + "\n");
    const std::string message = message_of<UsageError>([&] { read_plan(directory / "plan.csv"); });
    return message.substr(message.find("plan.csv"));
  };
  EXPECT_EQ(refusal("x,cpu,warm,1,"), "plan.csv:3:7: timing: unknown timing 'warm'");
  EXPECT_EQ(refusal("x,cpu,batch,0,"), "plan.csv:3:13: repeat: must be above 0");
  EXPECT_TRUE(
      refusal("x,cpu,batch,2x,").starts_with("plan.csv:3:13: repeat: must be a whole number"));
  EXPECT_EQ(refusal("y,cpu,batch,1,\nx,cpu,batch,1,"), "plan.csv:4:1: a second row of x on cpu");
}

TEST(PlanCsv, AnEmptyOneIsAHeader) {
  const TemporaryDirectory directory;
  write_plan(directory / "plan.csv", {});
  EXPECT_TRUE(read_plan(directory / "plan.csv").empty());
}

}  // namespace
}  // namespace assay
