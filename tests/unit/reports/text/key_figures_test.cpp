#include "reports/text/key_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

const KeyFigure& figure(std::string_view name) {
  return *std::ranges::find(key_figures(), name, &KeyFigure::name);
}

/// A timed pass whose bytes or FLOPs take 2 s.
Record rated(const std::string& op, const std::string& dtype, const std::string& params,
             double bytes, double flops = 0) {
  Record record = testing_support::sample_record(1);
  record.op = op;
  record.dtype = dtype;
  record.params = params;
  record.time_median_s = 2;
  record.time_ci_low_s = 1.6;
  record.time_ci_high_s = 2.5;
  record.bytes = bytes;
  record.bandwidth_bytes_per_s = bytes / 2;
  if (flops > 0) {
    record.flops = flops;
    record.flops_per_s = flops / 2;
  }
  return record;
}

TEST(KeyFigures, HaveNamesOfTheirOwnAndOneSourceEach) {
  std::set<std::string_view> names;
  for (const KeyFigure& one : key_figures()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_NE(one.limit.empty(), one.op.empty()) << one.name;
    EXPECT_TRUE(one.limit.empty() || parse_limit_kind(one.limit)) << one.limit;
  }
}

TEST(KeyFigures, ARateHasItsIntervalShareAndCase) {
  Record record = rated("softmax", "f32", "rows=4096;cols=1024", 8e9);
  record.fraction_of_limit = 0.5;
  record.limit = "memory_copy 8e9 B/s";
  const auto measure = measure_of(figure("softmax"), record);
  ASSERT_TRUE(measure);
  EXPECT_DOUBLE_EQ(measure->value, 4e9);
  EXPECT_DOUBLE_EQ(measure->low, 3.2e9);
  EXPECT_DOUBLE_EQ(measure->high, 5e9);
  EXPECT_EQ(measure->case_id, record.case_id);
  EXPECT_EQ(measure_text(figure("softmax"), *measure), "4.00 GB/s (3.20 to 5.00), 50% of limit");
}

TEST(KeyFigures, WhatWasNotRightOrNotTimedOrOfNoHardwareHasNone) {
  const Record good = rated("softmax", "f32", "", 8e9);
  ASSERT_TRUE(measure_of(figure("softmax"), good));
  const auto none = [&](auto change) {
    Record bad = good;
    change(bad);
    return !measure_of(figure("softmax"), bad);
  };
  EXPECT_TRUE(none([](Record& r) { r.status = Status::fail; }));
  EXPECT_TRUE(none([](Record& r) { r.status = Status::flaky; }));
  EXPECT_TRUE(none([](Record& r) { r.stand_in = "emulated"; }));
  EXPECT_TRUE(none([](Record& r) { r.bandwidth_bytes_per_s.reset(); }));
  EXPECT_TRUE(none([](Record& r) { r.timing = cold_timing; }));
  EXPECT_TRUE(none([](Record& r) { r.dtype = "f64"; }));
  EXPECT_TRUE(none([](Record& r) { r.op = "layernorm"; }));
}

TEST(KeyFigures, TheShapeDecidesToo) {
  const KeyFigure& axis = figure("slow-axis sum");
  const auto has = [](const KeyFigure& of, const char* params) {
    return measure_of(of, rated(std::string(of.op), std::string(of.dtype), params, 8e9))
        .has_value();
  };
  EXPECT_TRUE(has(axis, "outer=1;n=1024;inner=2"));
  EXPECT_TRUE(has(axis, "inner=1024"));
  EXPECT_FALSE(has(axis, "outer=7;n=34;inner=1"));
  EXPECT_FALSE(has(axis, "outer=7;n=34"));
  EXPECT_FALSE(has(axis, "outer=7;n=34;inner=2x"));
  const KeyFigure& to_device = figure("copy to device");
  EXPECT_TRUE(has(to_device, "from=pinned;to=device;bytes=4"));
  EXPECT_FALSE(has(to_device, "from=pageable;to=device;bytes=4"));
  EXPECT_FALSE(has(to_device, "from=device;to=pinned;bytes=4"));
  const KeyFigure& both_ways = figure("device to device");
  EXPECT_FALSE(has(both_ways, "bytes=4;by=engine;access=direct;ways=both"));
}

TEST(KeyFigures, ProductsAreRatesOfArithmetic) {
  const KeyFigure& products = figure("f32 products");
  EXPECT_DOUBLE_EQ(measure_of(products, rated("linear", "f32", "", 1e6, 8e9))->value, 4e9);
  EXPECT_FALSE(measure_of(products, rated("linear", "f32", "batch=1", 8e9, 1e6)))
      << "a product that only reads its weights tells of memory";
}

TEST(KeyFigures, AllReduceIsOverTheBusOfSeveralRanks) {
  const KeyFigure& reduce = figure("all-reduce bus");
  Record record = rated("allreduce", "f32", "reduce=sum;ranks=8;count=1024", 4096);
  record.busbw_bytes_per_s = 7e9;
  EXPECT_DOUBLE_EQ(measure_of(reduce, record)->value, 7e9);
  record.params = "reduce=sum;ranks=1;count=1024";
  EXPECT_FALSE(measure_of(reduce, record));
}

TEST(KeyFigures, TheBestProductAndTheLargestOfTheOthersStandForThem) {
  const KeyMeasure small{.value = 9, .work = 1};
  const KeyMeasure large{.value = 5, .work = 2};
  const KeyMeasure as_large{.value = 6, .work = 2};
  EXPECT_TRUE(stands_before(figure("f32 products"), small, large));
  EXPECT_TRUE(stands_before(figure("softmax"), large, small));
  EXPECT_TRUE(stands_before(figure("softmax"), as_large, large)) << "of several the best";
  EXPECT_TRUE(stands_before(figure("launch"), large, small)) << "less time is better";
}

TEST(KeyFigures, LimitsAreFiguresWithTheirShareOfTheory) {
  const Limit limit = testing_support::copy_limit();
  const KeyFigure& memory = figure("memory copy");
  const auto measure = measure_of(memory, limit);
  ASSERT_TRUE(measure);
  EXPECT_EQ(measure_text(memory, *measure), "31.2 GB/s (31.0 to 31.5), 50% of theory");
  EXPECT_FALSE(measure_of(figure("memory read"), limit));
  Limit failed = limit;
  failed.status = Status::error;
  EXPECT_FALSE(measure_of(memory, failed));
}

TEST(KeyFigures, ALaunchIsATime) {
  Limit limit{.device = "cuda:0", .limit = LimitKind{Resource::launch}, .status = Status::pass};
  limit.value = 1.1e-6;
  const KeyFigure& launch = figure("launch");
  EXPECT_EQ(measure_text(launch, *measure_of(launch, limit)), "1.10 µs");
}

}  // namespace
}  // namespace assay
