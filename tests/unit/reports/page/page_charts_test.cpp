#include "reports/files/table_file.h"
#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

TEST(Page, RatesOfThreeSizesMakeAChart) {
  std::vector<Record> records;
  for (const double n : {1e3, 1e4, 1e5}) records.push_back(timed("add", "cpu", 1e-9 * n, n));
  records.push_back(timed("exp", "cpu", 1e-3));
  const Stored stored(records);
  const std::string html = html_of({stored.read()});
  const std::string charts = part(html, "charts");
  EXPECT_TRUE(has(charts, "<title>tensor_ops/add f32</title>"));
  EXPECT_FALSE(has(charts, "<title>tensor_ops/exp f32</title>")) << "of one size";
  EXPECT_TRUE(has(part(html, "speed"), "<title>Bandwidth</title>"));
}

Record product(const std::string& of, int n, double time_s) {
  Record one = timed("matmul", of, time_s, n);
  one.dtype = "f32";
  one.params = fmt::format("n={};act=none", n);
  one.flops = 2.0 * n * n * n;
  one.bytes = 12.0 * n * n;
  one.flops_per_s = *one.flops / time_s;
  one.timing = "batch";
  one.limit = "matrix_f32 1e+12 FLOP/s";
  return one;
}

Limit limit(const std::string& name, const std::string& unit, std::optional<double> value) {
  Limit one{
      .device = "cpu", .limit = NamedLimit(name), .status = value ? Status::pass : Status::error};
  one.reason = value ? "" : "no memory";
  one.unit = unit;
  one.value = value;
  one.case_id = "limits/" + name;
  return one;
}

TEST(Page, ShowsTheLimitsAndWhatLiesUnderThem) {
  std::vector<Record> records;
  for (const int n : {100, 200, 400}) records.push_back(product("cpu", n, 1e-3));
  const Stored stored(records);
  {
    TableFile<Limit> limits(stored.path() / "limits.csv");
    limits.add(limit("matrix_f32", "FLOP/s", 0.9e12));
    limits.add(limit("matrix_f32", "FLOP/s", 1e12));
    limits.add(limit("matrix_f32", "FLOP/s", 0.8e12));
    limits.add(limit("memory_triad", "B/s", 3e10));
    limits.add(limit("memory_copy", "B/s", 4e10));
    limits.add(limit("memory_read", "B/s", std::nullopt));
  }
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  const std::string limits = part(html, "limits");
  EXPECT_TRUE(has(limits, "30.0 GB/s"));
  EXPECT_TRUE(has(limits, "error: no memory"));
  EXPECT_TRUE(has(limits, "href=\"#row=1.5\"")) << "a row of the file behind results.csv";
  const std::string charts = part(html, "charts");
  EXPECT_TRUE(has(charts, "matrix_f32 1.00 TFLOP/s")) << "the best row of it";
  EXPECT_TRUE(has(charts, "Roofline: cpu"));
  EXPECT_TRUE(has(charts, "memory_copy 40.0 GB/s")) << "the best that memory does";
  EXPECT_TRUE(has(charts, "matrix_f32 1.00 TFLOP/s</span>")) << "in the legend of a sweep";
  EXPECT_TRUE(has(charts, "memory_copy 40.0 GB/s</span>")) << "in the legend of a roofline";
}

TEST(Page, AChartJoinsPointsOfWhichOneSizeAloneChanges) {
  std::vector<Record> records;
  for (const int n : {100, 200, 400, 800, 1600}) {
    for (const char* act : {"none", "relu"}) {
      Record one = product("cpu", n, 1e-3);
      one.params = fmt::format("n={};m=8;act={}", n, act);
      one.case_id += act;
      records.push_back(one);
    }
  }
  Record other = product("cpu", 300, 1e-3);  // another shape, with no line to it
  other.params = "n=300;m=9;act=none";
  records.push_back(other);
  const auto chart = [](const std::string& html) {
    const std::string charts = part(html, "charts");
    const std::size_t at = charts.find("<title>tensor_ops/matmul");
    return charts.substr(at, charts.find("</svg>", at) - at);
  };
  const std::string lines = chart(html_of({Stored(records).read()}));
  EXPECT_TRUE(has(lines, "<title>tensor_ops/matmul f32</title>"));
  EXPECT_TRUE(has(part(html_of({Stored(records).read()}), "charts"), "act=none</span>"));
  EXPECT_EQ(count(lines, "joined"), 8U) << "two lines of five points";
  for (Record& record : records) record.params += fmt::format(";k={}", *record.flops);
  EXPECT_EQ(count(chart(html_of({Stored(records).read()})), "joined"), 0U)
      << "between shapes lies nothing";
}

TEST(Page, AChartMarksTheCachesOfItsDevice) {
  std::vector<Record> records;
  for (const double n : {1e3, 1e4, 1e5}) records.push_back(timed("add", "cpu", 1e-9 * n, n));
  const Stored stored(records);
  RunSource source = stored.read();
  source.devices.at(0)["l1_cache_bytes"] = "20000";
  source.devices.at(0)["l2_cache_bytes"] = "200000";
  source.devices.at(0)["last_level_cache_bytes"] = "20000000";
  const std::string charts = part(html_of({source}), "charts");
  EXPECT_TRUE(has(charts, "<title>L1 20.0 kB</title>"));
  EXPECT_TRUE(has(charts, "<title>L2 200 kB</title>"));
  EXPECT_FALSE(has(charts, "<title>L3")) << "beyond the sizes";
}

TEST(Page, AChartOfSeveralDevicesShowsTheSameWorkOnEach) {
  std::vector<Record> records;
  for (const int n : {100, 200, 400}) {
    records.push_back(product("cpu", n, 1e-3));
    records.push_back(product("cuda:0", n, 2e-3));
    Record half = product("cpu", n, 1e-4);
    half.dtype = "f16";
    half.case_id += "half";
    records.push_back(half);
  }
  const std::string charts =
      part(html_of({Stored(records, sample_run(9, 0), {"cpu", "cuda:0"}).read()}), "charts");
  EXPECT_TRUE(has(charts, "<title>tensor_ops/matmul f32 act=none</title>")) << charts;
  EXPECT_FALSE(has(charts, "half:"));
}

TEST(Page, OfAHistoryLeadsFromPointsToRows) {
  std::vector<StoredRun> runs(3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    static_cast<RunInfo&>(runs[i]) = sample_run(2, 0);
    runs[i].run_id = fmt::format("run-{}", i);
    runs[i].started_s = static_cast<double>(i);
  }
  runs[1].ended_at.clear();
  HistoryBuilder of(std::move(runs), "");
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<Record> records{timed("add", "cpu", 1e-3), timed("exp", "cpu", 2e-3)};
    of.add(i, records, [](const SeriesKey&) { return true; });
  }
  HistorySource source{.history = of.finish(1)};
  source.points = {"history.csv", "case_id\n"};
  const std::string html = page_html({.history = source});
  expect_sound(html);
  const std::string history = part(html, "history");
  EXPECT_TRUE(has(history, "History: 3 runs"));
  EXPECT_TRUE(has(history, "Changes: 0"));
  EXPECT_TRUE(has(history, "Series: 2 of 2"));
  for (int row = 0; row < 6; ++row) {
    EXPECT_TRUE(has(history, fmt::format("href=\"#row=0.{}\"", row))) << row;
  }
  EXPECT_EQ(count(history, "not ended"), 1U);
}

}  // namespace
}  // namespace assay::page
