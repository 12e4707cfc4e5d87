#include "reports/history/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "harness/records/csv.h"
#include "kernels/core/status.h"
#include "reports/history/history_csv.h"
#include "reports/history/history_svg.h"
#include "reports/history/history_text.h"
#include "reports/text/si.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

bool all(const SeriesKey& /*key*/) { return true; }

StoredRun run(const std::string& id, double hours, const std::string& git = "aaaa",
              const std::string& host = "node7") {
  StoredRun run;
  run.directory = "runs/" + id;
  run.run_id = id;
  run.host = host;
  run.started_at = "2024-01-31T12:00:00Z";
  run.ended_at = "2024-01-31T12:01:00Z";
  run.started_s = hours * 3600;
  run.git_revision = git;
  run.build_id = "0.1.0 " + git;
  return run;
}

Record timed(int n, double time_s, std::int64_t repeat = 1) {
  Record record = sample_record(n);
  record.repeat = repeat;
  record.time_median_s = time_s;
  return record;
}

/// History of one case. `timed_runs` has the time of each run; 0 is a failure.
History history_of(const std::vector<std::pair<StoredRun, double>>& timed_runs,
                   const std::string& reference = "", double within_s = 6 * 3600.0) {
  std::vector<StoredRun> runs;
  std::map<std::string, double> times;
  for (const auto& [stored, time_s] : timed_runs) {
    runs.push_back(stored);
    times[stored.run_id] = time_s;
  }
  HistoryBuilder builder(runs, reference);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double time_s = times.at(builder.history().runs[i].run_id);
    const std::vector<Record> records{time_s > 0 ? timed(1, time_s)
                                                 : sample_record(1, Status::fail)};
    builder.add(i, records, all);
  }
  return builder.finish(within_s);
}

History step() {
  std::vector<std::pair<StoredRun, double>> runs;
  for (int i = 0; i < 20; ++i) {
    const double noise = 0.001 * (i * 7 % 5);
    runs.emplace_back(run(fmt::format("r{:02}", i), i, fmt::format("git{:02}", i)),
                      i == 3 ? 0 : (i < 10 ? 1.0 : 1.1) + noise);
  }
  History history = history_of(runs);
  find_changes(history, {});
  return history;
}

TEST(History, RunsAreInTheOrderOfTime) {
  const History history = history_of({{run("b", 2), 2.0}, {run("c", 3), 3.0}, {run("a", 1), 1.0}});
  ASSERT_EQ(history.series.size(), 1U);
  EXPECT_EQ(history.series[0].values(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(history.runs.front().run_id, "a");
  EXPECT_FALSE(history.relative);
}

TEST(History, ASeriesHoldsOneCaseOnOneMachineTimedInOneWay) {
  HistoryBuilder builder({run("a", 1), run("b", 2, "aaaa", "node8")}, "");
  Record cold = timed(1, 1);
  cold.timing = "cold";
  Record other_product = timed(1, 1);
  other_product.device_name = "another";
  Record other_device = timed(1, 1);
  other_device.device = "cuda:0";
  builder.add(0, std::vector{timed(1, 1), timed(2, 1), cold, other_device}, all);
  builder.add(1, std::vector{timed(1, 1)}, all);
  EXPECT_EQ(builder.devices(), (std::vector<std::string>{"cpu", "cuda:0"}));
  EXPECT_EQ(builder.finish(0).series.size(), 5U);

  HistoryBuilder products({run("a", 1), run("b", 2)}, "");
  products.add(0, std::vector{timed(1, 1)}, all);
  products.add(1, std::vector{other_product}, all);
  EXPECT_EQ(products.finish(0).series.size(), 2U);
}

TEST(History, RunsWithOtherSettingsAreSeriesOfTheirOwn) {
  StoredRun one_thread = run("b", 2);
  one_thread.environment = {{"OMP_NUM_THREADS", "1"}};
  StoredRun side_by_side = run("c", 3);
  side_by_side.command_line = {"assay", "run", "--overlap-timings"};
  StoredRun of_others = run("e", 5);
  of_others.kernels.path = "/old/mine.so";
  StoredRun of_others_later = run("f", 6);
  of_others_later.kernels.path = "/new/mine.so";
  StoredRun alike = run("d", 4);
  alike.seed = 2;
  alike.environment = {{"CUDA_VISIBLE_DEVICES", "1"}};
  const History history = history_of({{run("a", 1), 1.0},
                                      {one_thread, 2.0},
                                      {side_by_side, 3.0},
                                      {alike, 1.1},
                                      {of_others, 4.0},
                                      {of_others_later, 4.1}});
  ASSERT_EQ(history.series.size(), 4U);
  EXPECT_EQ(history.series[0].key.settings, "");
  EXPECT_EQ(history.series[0].values(), (std::vector<double>{1.0, 1.1}));
  EXPECT_EQ(history.series[1].key.settings, "--kernels=mine.so");
  EXPECT_EQ(history.series[1].values(), (std::vector<double>{4.0, 4.1}));
  EXPECT_EQ(history.series[2].key.settings, "--overlap-timings");
  EXPECT_EQ(history.series[3].key.settings, "OMP_NUM_THREADS=1");
  EXPECT_NE(history_text(history, {})
                .find("runs with other settings are series of their own: none of them; "
                      "--kernels=mine.so; --overlap-timings; OMP_NUM_THREADS=1\n"),
            std::string::npos)
      << history_text(history, {});
}

TEST(History, SettingsThatAllRunsHaveTellNothingApart) {
  std::vector<std::pair<StoredRun, double>> runs{{run("a", 1), 1.0}, {run("b", 2), 2.0}};
  for (auto& [stored, time_s] : runs) stored.environment = {{"OMP_PROC_BIND", "true"}};
  runs[1].first.environment.emplace_back("OMP_NUM_THREADS", "1");
  const History history = history_of(runs);
  ASSERT_EQ(history.series.size(), 2U);
  EXPECT_EQ(history.series[0].key.settings, "");
  EXPECT_EQ(history.series[1].key.settings, "OMP_NUM_THREADS=1");
}

TEST(History, AReferenceWithOtherSettingsIsNone) {
  StoredRun reference = run("p", 1, "bbbb");
  reference.environment = {{"OMP_NUM_THREADS", "1"}};
  StoredRun alike = run("b", 2);
  alike.environment = reference.environment;
  const History history = history_of({{reference, 1.0}, {run("a", 2), 2.0}, {alike, 3.0}}, "bbbb");
  ASSERT_EQ(history.series.size(), 2U);
  EXPECT_TRUE(history.series[0].points.empty());
  EXPECT_EQ(history.series[1].values(), std::vector<double>{3});
}

TEST(History, OfSeveralRepeatsTheMedianAndNoneIfAnyWasWrong) {
  HistoryBuilder builder({run("a", 1), run("b", 2)}, "");
  builder.add(0, std::vector{timed(1, 1, 1), timed(1, 5, 2), timed(1, 2, 3)}, all);
  Record wrong = sample_record(1, Status::fail);
  wrong.repeat = 2;
  wrong.reason = "3 mismatches";
  builder.add(1, std::vector{timed(1, 1, 1), wrong}, all);
  const History history = builder.finish(0);
  ASSERT_EQ(history.series.size(), 1U);
  EXPECT_EQ(history.series[0].values(), std::vector<double>{2});
  EXPECT_NE(history.series[0].entries[1].missing.find("fail"), std::string::npos)
      << history.series[0].entries[1].missing;
}

TEST(History, WhatIsNotRightAndTimedIsAGap) {
  HistoryBuilder builder({run("a", 1)}, "");
  Record retried = timed(1, 1);
  retried.attempt = 2;
  Record failed = sample_record(1, Status::crash);
  Record checked = sample_record(2);
  checked.timing = "";
  builder.add(0, std::vector{failed, retried, checked, sample_record(3), timed(4, 0), timed(5, -1)},
              all);
  const History history = builder.finish(0);
  ASSERT_EQ(history.series.size(), 4U) << "what was only checked is in no series";
  for (const HistorySeries& series : history.series) {
    EXPECT_TRUE(series.points.empty());
    EXPECT_FALSE(series.entries[0].missing.empty());
  }
  EXPECT_TRUE(history.series[0].entries[0].missing.starts_with("flaky"));
  EXPECT_EQ(history.series[1].entries[0].missing, "no time");
}

TEST(History, OnlyWhatIsWantedIsTaken) {
  HistoryBuilder builder({run("a", 1)}, "");
  builder.add(0, std::vector{timed(1, 1), timed(2, 1)},
              [](const SeriesKey& key) { return key.case_id.ends_with("2"); });
  const History history = builder.finish(0);
  ASSERT_EQ(history.series.size(), 1U);
  EXPECT_EQ(history.series[0].key.case_id, "copy/f32/n=2");
}

TEST(History, ADroppedRunLeavesNoTrace) {
  HistoryBuilder builder({run("a", 1), run("b", 2, "bbbb"), run("c", 3)}, "");
  builder.add(0, std::vector{timed(1, 1)}, all);
  builder.drop(1);
  builder.add(1, std::vector{timed(1, 3)}, all);
  const History history = builder.finish(0);
  EXPECT_EQ(history.runs.size(), 2U);
  EXPECT_EQ(history.runs[history.series[0].entries[1].run].run_id, "c");
}

TEST(HistoryReference, IsTheNearestInTimeOnTheSameMachine) {
  const History history = history_of({{run("p0", 0, "bbbb"), 2},
                                      {run("r1", 1), 3},
                                      {run("r4", 4), 3},
                                      {run("p5", 5, "bbbb"), 4},
                                      {run("x5", 5.5, "bbbb", "node8"), 100},
                                      {run("r8", 8), 3}},
                                     "bb");
  ASSERT_EQ(history.series.size(), 1U) << "a series of the reference alone is none";
  EXPECT_EQ(history.series[0].values(), (std::vector<double>{1.5, 0.75, 0.75}));
  EXPECT_EQ(history.series[0].entries[0].reference_median_s, 2);
  EXPECT_EQ(history.runs[*history.series[0].entries[2].reference_run].run_id, "p5");
  EXPECT_TRUE(history.relative);
}

TEST(HistoryReference, OfTwoAsFarTheEarlierCounts) {
  const History history =
      history_of({{run("p0", 0, "bbbb"), 2}, {run("r1", 1), 4}, {run("p2", 2, "bbbb"), 1}}, "bb");
  EXPECT_EQ(history.series[0].values(), std::vector<double>{2});
}

TEST(HistoryReference, TooFarAwayOrWrongIsNone) {
  const std::vector<std::pair<StoredRun, double>> runs{
      {run("p0", 0, "bbbb"), 2}, {run("r6", 6), 4}, {run("p7", 7, "bbbb"), 0}};
  EXPECT_EQ(history_of(runs, "bb", 6 * 3600.0).series[0].values(), std::vector<double>{2});
  const History history = history_of(runs, "bb", 6 * 3600.0 - 1);
  EXPECT_TRUE(history.series[0].points.empty());
  EXPECT_EQ(history.series[0].entries[0].missing, "no reference within 5.99972 h");
  EXPECT_EQ(history.series[0].entries[0].median_s, 4);
}

TEST(HistoryReference, IsNamedByItsRevisionOrItsBuild) {
  const std::vector<std::pair<StoredRun, double>> runs{{run("p0", 0, "bbbb"), 2},
                                                       {run("r1", 1), 4}};
  EXPECT_EQ(history_of(runs, "0.1.0 b").series[0].values(), std::vector<double>{2});
  const std::string said = message_of<UsageError>([&] { history_of(runs, "bbbc"); });
  EXPECT_NE(said.find("unknown build 'bbbc'; did you mean 'bbbb'"), std::string::npos) << said;
}

TEST(HistoryChanges, LieBetweenRuns) {
  const History history = step();
  const HistorySeries& series = history.series[0];
  ASSERT_EQ(series.changes.size(), 1U);
  const HistoryChange& change = series.changes[0];
  EXPECT_EQ(history.runs[series.point(change.at.index).run].run_id, "r10");
  EXPECT_NEAR(change.ratio(), 1.1, 0.005);
  EXPECT_LT(series.last_before(change).run, 10U);
  EXPECT_GE(series.first_after(change).run, 10U);
  EXPECT_EQ(series.entries[3].segment, 0U) << "a gap lies on no level";
  EXPECT_EQ(series.entries[9].segment, 1U);
  EXPECT_EQ(series.entries[10].segment, 2U);
  EXPECT_FALSE(series.too_short);
}

TEST(HistoryChanges, AreSoughtInEverySeries) {
  std::vector<StoredRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(run(fmt::format("r{:02}", i), i));
  HistoryBuilder builder(runs, "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Record> records;
    for (int n = 0; n < 30; ++n) records.push_back(timed(n, (i < 10 ? 1 : 2) + 0.001 * n));
    if (i < 9) records.push_back(timed(100, 1));
    builder.add(i, records, all);
  }
  History history = builder.finish(0);
  find_changes(history, {});
  for (const HistorySeries& series : history.series) {
    const bool is_short = series.key.case_id == "copy/f32/n=100";
    EXPECT_EQ(series.changes.size(), is_short ? 0U : 1U);
    EXPECT_EQ(series.too_short, is_short);
  }
}

TEST(HistoryText, TellsChangesGapsAndCounts) {
  const std::string text = history_text(step(), {});
  EXPECT_NE(text.find("copy/f32/n=1  batch   node7  cpu     10"), std::string::npos) << text;
  EXPECT_NE(text.find("runs/r09 (git09) and runs/r10 (git10)"), std::string::npos) << text;
  EXPECT_NE(text.find("no point: r03: copy/f32/n=1 on cpu: fail"), std::string::npos) << text;
  EXPECT_NE(text.find("20 runs; 1 series, 19 points, 1 gap\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 change in 1 of 1 series that is long enough"), std::string::npos) << text;
  EXPECT_NE(text.find("1 change between runs/r09 and runs/r10; what else changed there:\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("git_revision  git09        git10\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    assay compare runs/r09 runs/r10\n"), std::string::npos) << text;
}

TEST(HistoryText, TellsOfTheLoadOnBothSidesOfAChange) {
  std::vector<StoredRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(run(fmt::format("r{:02}", i), i));
  HistoryBuilder builder(runs, "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Record> records{timed(1, i < 10 ? 1 : 2), timed(2, 1)};
    records[0].contended = i >= 10;
    builder.add(i, records, all);
  }
  History history = builder.finish(0);
  find_changes(history, {});
  const std::string text = history_text(history, {});
  EXPECT_NE(text.find("contended figures  0 of 2  1 of 2\n"), std::string::npos) << text;
}

TEST(HistoryText, TheNewestChangeComesFirst) {
  std::vector<StoredRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(run(fmt::format("r{:02}", i), i));
  HistoryBuilder builder(runs, "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    builder.add(
        i, std::vector{timed(1, i < 8 ? 1 : 2), timed(2, i < 12 ? 1 : 2), timed(3, i < 12 ? 4 : 1)},
        all);
  }
  History history = builder.finish(0);
  find_changes(history, {});
  const std::string text = history_text(history, {});
  EXPECT_LT(text.find("n=3"), text.find("n=2")) << text;
  EXPECT_LT(text.find("n=2"), text.find("n=1")) << text;
  EXPECT_EQ(change_in_words(0.75), "25.0% faster");
  EXPECT_EQ(change_in_words(1.5), "50.0% slower");
}

TEST(HistoryCsv, HasARowForEachRunOfEachSeries) {
  std::istringstream text(history_csv(step()));
  const std::vector<CsvRow> rows = read_csv(text, "h.csv");
  ASSERT_EQ(rows.size(), 21U);
  EXPECT_EQ(rows[0].fields, history_columns());
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto& columns = rows[0].fields;
    return rows[row].fields.at(
        static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin()));
  };
  EXPECT_EQ(cell(1, "run_id"), "r00");
  EXPECT_EQ(cell(1, "median_s"), "1");
  EXPECT_EQ(cell(1, "value"), "1");
  EXPECT_EQ(cell(1, "segment"), "1");
  EXPECT_EQ(cell(1, "reference_median_s"), "");
  EXPECT_EQ(cell(4, "value"), "");
  EXPECT_EQ(cell(4, "missing"), "fail");
  EXPECT_EQ(cell(20, "segment"), "2");
}

TEST(HistoryCsv, HasARowForEachChange) {
  std::istringstream text(history_changes_csv(step()));
  const std::vector<CsvRow> rows = read_csv(text, "h.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].fields, history_changes_columns());
  EXPECT_EQ(rows[1].fields.size(), rows[0].fields.size());
  EXPECT_EQ(std::ranges::count(rows[1].fields, "r10"), 2) << "the estimate, and the first after";
}

TEST(HistorySvg, IsWellFormedAndHasWhatItShows) {
  const HistoryChart chart = history_svg(step(), 40);
  EXPECT_EQ(xml_fault(chart.document), "");
  EXPECT_EQ(chart.shown, 1U);
  EXPECT_EQ(chart.left_out, 0U);
  for (const char* part : {"class=\"range\"", "class=\"gap\"", "copy/f32/n=1", "time in s", "+10",
                           "r03 (git03): fail", "prefers-color-scheme: dark"}) {
    EXPECT_NE(chart.document.find(part), std::string::npos) << part;
  }
}

TEST(HistorySvg, PutsChangesFirstAndEscapesNames) {
  std::vector<StoredRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(run(fmt::format("r<{:02}>", i), i, "a&b"));
  HistoryBuilder builder(runs, "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Record odd = timed(2, i < 10 ? 1 : 2);
    odd.case_id = "copy/\"<&>\"";
    odd.device_name = "a & b";
    builder.add(i, std::vector{timed(1, 1), odd}, all);
  }
  History history = builder.finish(0);
  find_changes(history, {});
  const HistoryChart chart = history_svg(history, 1);
  EXPECT_EQ(xml_fault(chart.document), "");
  EXPECT_EQ(chart.left_out, 1U);
  EXPECT_NE(chart.document.find("copy/&quot;&lt;&amp;&gt;&quot;"), std::string::npos);
  EXPECT_EQ(chart.document.find("copy/f32/n=1"), std::string::npos);
}

}  // namespace
}  // namespace assay
