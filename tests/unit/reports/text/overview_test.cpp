#include "reports/text/overview.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/text/largest_case.h"
#include "reports/text/rate.h"

namespace assay {
namespace {

Record timed(const std::string& op, const std::string& params, double bytes, double bytes_per_s) {
  Record record;
  record.suite = "tensor_ops";
  record.op = op;
  record.dtype = "f32";
  record.params = params;
  record.case_id = "tensor_ops/" + op + "/f32/" + params;
  record.device = "cpu";
  record.status = Status::pass;
  record.flops = 1;
  record.bytes = bytes;
  record.flops_per_s = bytes_per_s / bytes;
  record.bandwidth_bytes_per_s = bytes_per_s;
  return record;
}

TEST(Overview, NamesTheLargestCaseOfEachOp) {
  const std::string text =
      overview(std::vector<Record>{timed("add", "n=5", 60, 4e9), timed("add", "n=3", 36, 9e9)});
  EXPECT_NE(text.find("tensor_ops/add/f32"), std::string::npos) << text;
  EXPECT_NE(text.find("2/2"), std::string::npos) << text;
  EXPECT_NE(text.find("4.00 GB/s  n=5"), std::string::npos) << text;
}

TEST(LargestCase, OfEqualWorkIsTheLaterOne) {
  std::vector<Record> trials;
  for (const char* act : {"none", "relu", "gelu"}) {
    trials.push_back(timed("linear", fmt::format("n=5,act={}", act), 60, 4e9));
  }
  LargestCase largest(1);
  for (const Record& trial : trials) largest.add({&trial}, 0);
  EXPECT_EQ(any_of(largest.trials())->params, "n=5,act=gelu");
  EXPECT_NE(overview(trials).find("n=5,act=gelu"), std::string::npos) << overview(trials);
}

TEST(LargestCase, IsOneThatMostPlacesHave) {
  Record large = timed("add", "n=9", 108, 4e9);
  std::vector<Record> trials{timed("add", "n=5", 60, 4e9), large, timed("add", "n=5", 60, 2e9)};
  trials[2].device = "sim:0";
  LargestCase largest(2);
  for (const Record& trial : trials) largest.add({&trial}, trial.device == "cpu" ? 0 : 1);
  EXPECT_EQ(any_of(largest.trials())->params, "n=5");
  EXPECT_EQ(overview(trials).find("n=9"), std::string::npos) << overview(trials);
  trials.pop_back();
  EXPECT_NE(overview(trials).find("n=9"), std::string::npos) << overview(trials);
  EXPECT_TRUE(LargestCase(1).trials().empty());
}

TEST(Overview, RatesTheBatchAndNotTheColdLaunch) {
  std::vector<Record> both{timed("add", "n=5", 60, 4e9), timed("add", "n=5", 60, 1e9)};
  both[0].timing = batch_timing;
  both[1].timing = cold_timing;
  EXPECT_NE(overview(both).find("4.00 GB/s"), std::string::npos) << overview(both);
}

TEST(Overview, SaysHowManyFiguresWereDisturbed) {
  std::vector<Record> trials(3, timed("add", "n=5", 60, 4e9));
  for (Record& trial : trials) trial.time_median_s = 1;
  EXPECT_EQ(overview(trials).find("figures"), std::string::npos);
  trials[0].contended = true;
  trials[1].contended = false;
  trials[2].throttled = true;
  EXPECT_NE(overview(trials).find("1 of 3 figures were taken while others used the cores"),
            std::string::npos);
  EXPECT_NE(overview(trials).find("1 of 3 figures were taken while the device slowed itself"),
            std::string::npos);
  trials[0].time_median_s.reset();
  EXPECT_EQ(overview(trials).find("others used"), std::string::npos) << "it has no figure";
}

TEST(Overview, SaysHowManyFiguresAreBeyondTheirLimitsAndNotHowManyTouchThem) {
  std::vector<Record> trials(2, timed("add", "n=5", 60, 4e9));
  for (Record& trial : trials) {
    trial.time_median_s = 1;
    trial.fraction_of_limit = 1.01;  // within the intervals of the two
    trial.beyond_limit = false;
  }
  EXPECT_EQ(overview(trials).find("limit:"), std::string::npos) << overview(trials);
  trials[1].beyond_limit = true;
  EXPECT_NE(overview(trials).find("1 of 2 figures are beyond their measured limit"),
            std::string::npos)
      << overview(trials);
}

TEST(Overview, CountsWhatWasNotRightAndNeverRatesIt) {
  Record wrong = timed("add", "n=5", 60, 4e12);
  wrong.status = Status::fail;
  const std::string text = overview(std::vector<Record>{timed("add", "n=3", 36, 1e9), wrong});
  EXPECT_NE(text.find("1/2"), std::string::npos) << text;
  EXPECT_EQ(text.find("n=5"), std::string::npos) << text;
}

TEST(Overview, KeepsTheLinesOfADeviceTogether) {
  std::vector<Record> records(3, timed("add", "n=5", 60, 4e9));
  records[1].device = "sim:0";
  records[2].op = "exp";
  const std::string text = overview(records);
  EXPECT_LT(text.find("exp"), text.find("sim:0")) << text;
}

TEST(Overview, DtypesShareALineWhereTheyWouldFillMoreThanAPage) {
  std::vector<Record> records;
  for (int op = 0; op < 30; ++op) {
    records.push_back(timed("op" + std::to_string(op), "n=5", 60, 4e9));
    records.push_back(timed("op" + std::to_string(op), "n=9", 600, 8e9));
    records.back().dtype = "f64";
  }
  const std::string text = overview(records);
  EXPECT_EQ(std::ranges::count(text, '\n'), 31) << text;
  EXPECT_NE(text.find("2/2  4.00 GB/s  f32  n=5"), std::string::npos) << text;
}

TEST(Overview, OfNothingIsNothing) { EXPECT_EQ(overview({}), ""); }

TEST(Rates, ProductsAreToldInFlopsAndTheRestInBytes) {
  Record record = timed("add", "n=3", 12, 1e9);
  EXPECT_EQ(rate(record)->kind, RateKind::data);
  record.flops = 1000;
  EXPECT_EQ(rate(record)->kind, RateKind::arithmetic);
  record.flops_per_s.reset();
  record.busbw_bytes_per_s = 2e9;
  EXPECT_EQ(rate(record)->per_s, 2e9) << "the bus before the memory";
  record.status = Status::fail;
  EXPECT_FALSE(rate(record));
}

}  // namespace
}  // namespace assay
