#include "reports/text/soak_report.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

const std::string product = "linear/f32/batch=8,in=8,out=8,bias=0,act=none";
const std::string copy = "limits/stream_copy/f64/n=1024";

SoakRow row(std::int64_t interval, double products, double launch_s = 1) {
  SoakRow row{.device = "cuda:0", .interval = interval, .case_id = product, .status = Status::pass};
  row.work.launches = 10;
  row.work.products = products;
  row.work.launch_s = launch_s;
  row.work.wall_s = launch_s + 0.05;
  return row;
}

SoakDevice folded(std::int64_t planned, const std::vector<SoakRow>& rows) {
  DeviceInfo info;
  info.device = "cuda:0";
  info.name = "a GPU";
  return soak_device(info, planned, rows);
}

TEST(SoakStatement, BoundsWhatWasNotSeen) {
  EXPECT_EQ(soak_statement(0, 3.1e15, "product", "products"),
            "no wrong bit in 3.1e15 products: fewer than 9.7e-16 wrong results per product at 95%");
  EXPECT_EQ(soak_statement(1, 1e9, "copied byte", "copied bytes"),
            "1 wrong result in 1.0e9 copied bytes: fewer than 4.7e-9 wrong results per copied byte "
            "at 95%");
  EXPECT_EQ(soak_statement(2, 1e6, "product", "products").substr(0, 31),
            "2 wrong results in 1.0e6 produc");
  EXPECT_EQ(soak_statement(0, 0, "product", "products"), "") << "nothing is no statement";
}

TEST(SoakReport, PassesOnlyWhatIsWhole) {
  EXPECT_EQ(folded(2, {row(1, 100), row(2, 100)}).verdict(), StatusClass::right);
  EXPECT_EQ(folded(3, {row(1, 100), row(2, 100)}).verdict(), StatusClass::broken)
      << "an interval is missing";
  EXPECT_EQ(folded(1, {}).verdict(), StatusClass::broken);

  SoakRow wrong = row(2, 100);
  wrong.status = Status::fail;
  wrong.reason = "one bit";
  EXPECT_EQ(folded(2, {row(1, 100), wrong}).verdict(), StatusClass::wrong);
  SoakRow crash = row(2, 0);
  crash.status = Status::crash;
  EXPECT_EQ(folded(2, {row(1, 100), crash}).verdict(), StatusClass::broken);
  EXPECT_EQ(folded(3, {row(1, 100), wrong, crash}).verdict(), StatusClass::wrong)
      << "wrong counts before broken";

  SoakRow counted = row(2, 100);
  counted.work.wrong_elements = 1;
  EXPECT_EQ(folded(2, {row(1, 100), counted}).verdict(), StatusClass::wrong)
      << "whatever its status says";
  SoakRow ecc = row(2, 100);
  ecc.work.ecc_uncorrected = 1;
  EXPECT_EQ(folded(2, {row(1, 100), ecc}).verdict(), StatusClass::wrong);
  SoakRow xid = row(2, 100);
  xid.work.xid_errors = 1;
  xid.work.last_xid = 48;
  const std::vector devices{folded(2, {row(1, 100), xid})};
  EXPECT_EQ(devices.front().verdict(), StatusClass::wrong);
  EXPECT_NE(soak_report(devices).find("XID 48"), std::string::npos) << soak_report(devices);
}

TEST(SoakReport, NeverPassesADeviceThatComparedNothing) {
  SoakRow skipped = row(1, 0);
  skipped.status = Status::skip;
  skipped.work = SoakWork();
  EXPECT_EQ(folded(1, {skipped}).verdict(), StatusClass::skipped);
  SoakRow idle = row(1, 0);
  EXPECT_EQ(folded(1, {idle}).verdict(), StatusClass::skipped) << "launched and not compared";
  const std::vector devices{folded(1, {skipped})};
  EXPECT_EQ(soak_report(devices).find("PASSED"), std::string::npos);
}

TEST(SoakReport, SaysWhichPartOfTheTimeWasSkipped) {
  SoakRow skipped = row(2, 0);
  skipped.case_id = copy;
  skipped.status = Status::skip;
  skipped.reason = "not here";
  skipped.work = SoakWork();
  const std::vector devices{folded(2, {row(1, 100), skipped})};
  EXPECT_EQ(devices[0].verdict(), StatusClass::right);
  const std::string text = soak_report(devices);
  EXPECT_NE(text.find("1 of 2 intervals were skipped"), std::string::npos) << text;
  EXPECT_NE(text.find("skipped: not here"), std::string::npos) << text;
}

TEST(SoakReport, ComparesTheLastTenthWithTheFirst) {
  std::vector<SoakRow> rows;
  for (int i = 1; i <= 20; ++i) rows.push_back(row(i, i <= 18 ? 1000 : 800));
  const SoakDevice device = folded(20, rows);
  ASSERT_EQ(device.cases.size(), 1U);
  EXPECT_EQ(device.cases[0].first_tenth_per_s, 1000);
  EXPECT_EQ(device.cases[0].last_tenth_per_s, 800);
  const std::vector devices{device};
  EXPECT_NE(soak_report(devices).find("-20.0%"), std::string::npos) << soak_report(devices);
  EXPECT_EQ(folded(1, {row(1, 10)}).cases[0].last_tenth_per_s, std::nullopt)
      << "one interval is no comparison";
}

TEST(SoakReport, KeepsWrongCopiesApartFromWrongProducts) {
  SoakRow copied = row(2, 0);
  copied.case_id = copy;
  copied.work.copied_bytes = 1e6;
  copied.work.wrong_elements = 3;
  const SoakDevice device = folded(2, {row(1, 1e6), copied});
  EXPECT_EQ(device.total.wrong_in_copies, 3);
  EXPECT_EQ(device.total.wrong_in_products, 0);
}

TEST(SoakReport, SaysWhatWasUnderNinetyPercentAndTheRangeOfTemperatures) {
  SoakRow cool = row(1, 100);
  cool.work.temperature_c = 40;
  SoakRow hot = row(2, 100);
  hot.work.temperature_c = 81;
  hot.work.throttled = true;
  hot.work.wall_s = 2;
  const std::vector devices{folded(2, {cool, hot})};
  const std::string text = soak_report(devices);
  EXPECT_NE(text.find("40 to 81 °C"), std::string::npos) << text;
  EXPECT_NE(text.find("throttled"), std::string::npos);
  EXPECT_NE(text.find("less than 90%"), std::string::npos);
  const std::vector full{folded(1, {row(1, 100)})};
  EXPECT_EQ(soak_report(full).find("less than 90%"), std::string::npos);
}

TEST(SoakReport, ShowsNoSpeedOfAStandIn) {
  DeviceInfo info;
  info.device = "cuda:0";
  info.stand_in = "simulated";
  const std::vector rows{row(1, 1e12)};
  const std::vector devices{soak_device(info, 1, rows)};
  EXPECT_EQ(soak_report(devices).find("FLOP/s"), std::string::npos);
}

}  // namespace
}  // namespace assay
