#include "reports/page/page.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/base/status.h"
#include "reports/devices_csv.h"
#include "reports/limits_csv.h"
#include "reports/page/sections.h"
#include "reports/results_csv.h"
#include "reports/run_json.h"
#include "tests/reports_support.h"

namespace assay::page {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

const std::string hostile = "<script>alert(1)</script>\"',\n</style>&\xFF";

DeviceInfo device(const std::string& id, const std::string& name) {
  DeviceInfo info;
  info.device = id;
  info.backend = id.substr(0, id.find(':'));
  info.name = name;
  return info;
}

Record record(const std::string& op, const std::string& of, Status status = Status::pass) {
  Record record = sample_record(1, status);
  record.suite = "tensor_ops";
  record.op = op;
  record.dtype = "f32";
  record.case_id = "tensor_ops/" + op + "/f32/n=1";
  record.device = of;
  return record;
}

Record timed(const std::string& op, const std::string& of, double time_s, double n = 1e6) {
  Record timed = record(op, of);
  timed.case_id = fmt::format("tensor_ops/{}/f32/n={}", op, n);
  timed.time_median_s = time_s;
  timed.time_ci_low_s = 0.99 * time_s;
  timed.time_ci_high_s = 1.01 * time_s;
  timed.bytes = 8 * n;
  timed.bandwidth_bytes_per_s = 8 * n / time_s;
  return timed;
}

/// A run directory with these rows.
class Stored {
 public:
  explicit Stored(std::vector<Record> records, RunInfo run = sample_run(1, 0),
                  std::vector<std::string> devices = {"cpu"}, bool ended = true) {
    for (const std::string& id : devices) run.devices.push_back(device(id, "a " + id));
    run.planned = std::ssize(records);
    write_file(folder_ / "run.json", run_json(run, ended));
    DevicesCsv(folder_ / "devices.csv").begin(run);
    ResultsCsv results(folder_ / "results.csv");
    for (const Record& record : records) results.result({.record = record});
  }
  const fs::path& path() const { return folder_.path(); }
  RunSource read() const { return read_run_source(path()); }

 private:
  TemporaryDirectory folder_;
};

std::string html_of(std::vector<RunSource> runs, const std::string& baseline = "") {
  PageInput input{.runs = std::move(runs), .baseline = baseline};
  input.made_by = "assay 1.0.0";
  return page_html(input);
}

std::string part(const std::string& html, const std::string& id) {
  const std::size_t begin = html.find("<section id=\"" + id + "\"");
  if (begin == std::string::npos) return {};
  return html.substr(begin, html.find("</section>", begin) - begin);
}

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// What a page may not be: a tag that does not end, text that became markup.
void expect_sound(const std::string& html) {
  const std::size_t begin = html.find("<main");
  const std::size_t end = html.find("</main>") + 7;
  EXPECT_EQ(xml_fault(html.substr(begin, end - begin)), "");
  std::size_t scripts = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos;
       at = html.find("<script", at + 1)) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 1U);
}

TEST(Page, OfARunThatPassed) {
  const Stored stored({timed("add", "cpu", 1e-3), timed("exp", "cpu", 2e-3)});
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "✓ PASSED"));
  EXPECT_TRUE(has(part(html, "problems"), "What is wrong: 0"));
  EXPECT_TRUE(has(part(html, "correctness"), "✓ 1/1"));
  EXPECT_TRUE(has(part(html, "speed"), "8.00 GB/s (7.92 to 8.08)")) << part(html, "speed");
  EXPECT_TRUE(has(part(html, "environment"), "a cpu"));
  EXPECT_EQ(part(html, "against"), "") << "one device has nothing beside it";
}

TEST(Page, ShowsTheCommandAsOneWouldTypeIt) {
  RunInfo run = sample_run(1, 0);
  run.command_line = {"/opt/a b/bin/assay", "run", "--filter", "a|b"};
  const Stored stored({record("add", "cpu")}, run);
  EXPECT_TRUE(has(part(html_of({stored.read()}), "verdict"), "<dd>assay run --filter 'a|b'</dd>"));
}

TEST(Page, ARunThatFailedSaysWhatIsWrongFirst) {
  Record wrong = record("exp", "cpu", Status::fail);
  wrong.reason = "3 of 8 elements";
  wrong.mismatches = 3;
  wrong.elements = 8;
  wrong.worst_index = 5;
  wrong.worst_expected = "1.5";
  wrong.worst_actual = "nan";
  wrong.max_bound_ratio = 40;
  Record worse = record("log", "cpu", Status::fail);
  worse.max_bound_ratio = 400;
  const Stored stored({record("add", "cpu"), record("sub", "cpu", Status::crash), wrong, worse},
                      sample_run(4, 1));
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "✗ FAILED"));
  const std::string problems = part(html, "problems");
  EXPECT_TRUE(has(problems, "What is wrong: 3"));
  EXPECT_LT(problems.find("tensor_ops/log"), problems.find("tensor_ops/exp")) << "farther off";
  EXPECT_LT(problems.find("tensor_ops/exp"), problems.find("tensor_ops/sub")) << "wrong first";
  EXPECT_TRUE(has(problems, "worst at [5]: expected 1.5, got nan"));
  EXPECT_TRUE(has(problems, "data-copy=\"assay run --case"));
  EXPECT_TRUE(has(problems, "href=\"#row=0.2\"")) << "the row of the file";
  EXPECT_TRUE(has(part(html, "correctness"), "✗ 0/1 1 wrong"));
  EXPECT_TRUE(has(part(html, "correctness"), "! 0/1 1 broken"));
}

TEST(Page, ACellLeadsToTheWorstOfItsTrials) {
  Record wrong = record("exp", "cpu", Status::fail);
  wrong.case_id = "tensor_ops/exp/f32/n=2";
  Record crashed = record("exp", "cpu", Status::crash);
  crashed.case_id = "tensor_ops/exp/f32/n=3";
  const Stored stored({record("exp", "cpu"), wrong, crashed}, sample_run(3, 1));
  EXPECT_TRUE(has(part(html_of({stored.read()}), "correctness"),
                  "<a href=\"#row=0.1\">✗ 1/3 1 wrong 1 broken</a>"));
}

TEST(Page, WhatIsWrongIsNeverExact) {
  Record flipped = record("exp", "cpu", Status::fail);  // an exact oracle has no other measure
  flipped.max_bound_ratio = 0;
  flipped.worst_index = 0;
  Record nan = record("log", "cpu", Status::fail);  // and infinity is an empty cell
  Record slightly = record("tanh", "cpu", Status::fail);
  slightly.max_bound_ratio = 1.01;
  const Stored stored({slightly, flipped, nan}, sample_run(3, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_FALSE(has(part(html, "correctness"), "wrong exact"));
  EXPECT_TRUE(has(part(html, "correctness"), "1 wrong 1×"));
  const std::string problems = part(html, "problems");
  EXPECT_FALSE(has(problems, "0 times the allowed error"));
  EXPECT_GT(problems.find("tensor_ops/tanh"), problems.find("tensor_ops/exp"));
  EXPECT_GT(problems.find("tensor_ops/tanh"), problems.find("tensor_ops/log"));
}

TEST(Page, ARowThatIsThereTwiceIsRefusedAsItWouldHideAMissingOne) {
  const Stored stored({record("add", "cpu"), record("add", "cpu")});
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "results.csv: row 2 repeats tensor_ops/add/f32/n=1",
                      message_of<UsageError>([&] { stored.read(); }));
}

TEST(Page, AVerdictNeedsWhatItRestsOn) {
  const Stored stored({record("add", "cpu")});
  const std::string whole = read_file(stored.path() / "run.json");
  for (const char* key : {"planned", "exit_code", "interrupted", "command_line"}) {
    std::string without = whole;
    without.replace(without.find(key), 1, "_");
    write_file(stored.path() / "run.json", without);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, fmt::format("'{}' is missing", key),
                        message_of<UsageError>([&] { stored.read(); }));
  }
}

TEST(Page, ARunThatLacksTrialsDoesNotSayThatNothingIsWrong) {
  RunInfo run = sample_run(1, 4);
  run.interrupted = true;
  const Stored stored({record("add", "cpu")}, run);
  const std::string problems = part(html_of({stored.read()}), "problems");
  EXPECT_TRUE(has(problems, "No result of the run is wrong, but it did not pass: interrupted"));
  EXPECT_FALSE(has(problems, "none is missing"));
}

TEST(Page, AcceptedFlakyResultsAreNoProblem) {
  Record first = record("exp", "cpu", Status::fail);
  Record second = record("exp", "cpu");
  second.attempt = 2;
  RunInfo run = sample_run(1, 0);
  run.allow_flaky = true;
  const Stored stored({first, second}, run);
  EXPECT_TRUE(has(part(html_of({stored.read()}), "problems"), "What is wrong: 0"));
}

TEST(Page, TheFileOfARunThatEndedIsWhole) {
  const Stored stored({record("add", "cpu")});
  std::string results = read_file(stored.path() / "results.csv");
  results.pop_back();  // an editor's doing
  write_file(stored.path() / "results.csv", results);
  EXPECT_EQ(stored.read().results.bytes, results);
}

TEST(Page, ALaneIsSimulatedByItsOwnDevices) {
  const Stored stored(
      {timed("add", "sim:0", 1e-3), timed("add", "cpu", 1e-3), timed("add", "sim:0>sim:1", 1e-3)},
      sample_run(3, 0), {"sim:0", "sim:1", "cpu"});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "speed"), "several together (simulated)"));
  EXPECT_FALSE(has(part(html, "speed"), "cpu (simulated)"));
  EXPECT_TRUE(has(part(html, "verdict"), "2 of 3 devices: what they show is no hardware"));
  EXPECT_TRUE(has(part(html, "environment"), "sim:1 (simulated)")) << "also without a trial";
}

TEST(Page, RatesStandBesideEachOtherForTheSameCase) {
  const Stored stored({timed("add", "cpu", 1e-3, 1e6), timed("add", "cpu", 8e-3, 8e6),
                       timed("add", "sim:0", 2e-3, 1e6)},
                      sample_run(3, 0), {"cpu", "sim:0"});
  const std::string speed = part(html_of({stored.read()}), "speed");
  EXPECT_TRUE(has(speed, "8.00 GB/s (7.92 to 8.08)")) << "of the case that both have";
  EXPECT_TRUE(has(speed, "data-v=\"2\"")) << speed;
}

TEST(Page, RunsOfWhichOneLacksTrialsSaySo) {
  const Stored before({record("add", "cpu"), record("exp", "cpu")});
  const Stored after({record("add", "cpu"), record("log", "cpu")});
  const Stored other({record("sub", "cpu")});
  const std::string against = part(html_of({before.read(), after.read(), other.read()}), "against");
  EXPECT_TRUE(has(against, "Results of run 2 that differ from run 1: 2"));
  EXPECT_TRUE(has(against, "<td>missing</td>"));
  EXPECT_TRUE(has(against, "<td>not there: new</td>"));
  EXPECT_TRUE(has(against, "have no trial in common"));
}

TEST(Page, ValuesThatDifferAreMarkedThoughTheyReadAlike) {
  const Stored one({record("add", "cpu")});
  const Stored other({record("add", "cpu")});
  for (const auto& [stored, bytes] : {std::pair(&one, "25277000000"), {&other, "25320000000"}}) {
    write_file(
        stored->path() / "devices.csv",
        fmt::format("device,backend,name,memory_total_bytes,later\ncpu,cpu,a,{},x\n", bytes));
  }
  const std::string environment = part(html_of({one.read(), other.read()}), "environment");
  const std::size_t at = environment.find("memory total");
  EXPECT_TRUE(has(environment.substr(at, 60), "differs")) << environment;
  EXPECT_TRUE(has(environment, ">later</th>")) << "a column of a later version";
}

TEST(Page, KnownFailuresAndSkipsAreNoProblems) {
  Record known = record("exp", "cpu", Status::fail);
  known.expected_failure = "a bug";
  const Stored stored({record("add", "cpu"), known, record("log", "cpu", Status::skip)});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "What is wrong: 0"));
  EXPECT_TRUE(has(part(html, "correctness"), "○ 0/1 1 expected"));
  EXPECT_TRUE(has(part(html, "correctness"), "– 0/1 1 skipped"));
}

TEST(Page, TheLastAttemptDecidesAndIsTheRowThatIsLinked) {
  Record first = record("exp", "cpu", Status::fail);
  Record second = record("exp", "cpu");
  second.attempt = 2;
  const Stored stored({record("add", "cpu"), first, second}, sample_run(2, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "✗ flaky"));
  EXPECT_TRUE(has(part(html, "problems"), "href=\"#row=0.2\""));
}

TEST(Page, OfARunThatWasKilledOrDidNothing) {
  const Stored killed({record("add", "cpu")}, sample_run(1, 0), {"cpu"}, false);
  std::string results = read_file(killed.path() / "results.csv");
  write_file(killed.path() / "results.csv", results + "1,torn");
  const RunSource source = killed.read();
  EXPECT_EQ(source.results.bytes, results) << "whole rows alone";
  EXPECT_TRUE(has(html_of({source}), "✗ INCOMPLETE"));

  const Stored empty({}, sample_run(0, 3));
  const std::string html = html_of({empty.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "✗ EMPTY"));
}

TEST(Page, TextOfOthersIsNeverMarkup) {
  Record wrong = record("exp", "cpu", Status::fail);
  wrong.case_id = hostile;
  wrong.op = hostile;
  wrong.suite = hostile;
  wrong.reason = hostile;
  wrong.replay = hostile;
  Record fast = timed(hostile, "cpu", 1e-3);
  fast.params = hostile;
  fast.limit = hostile;
  RunInfo run = sample_run(2, 1);
  run.run_id = run.host = run.profile = run.git_revision = hostile;
  run.notes = {hostile};
  run.command_line = {"assay", hostile};
  run.environment = {{hostile, hostile}};
  const Stored stored({wrong, fast}, run, {"cpu"});
  const std::string html = html_of({stored.read(), stored.read()});
  expect_sound(html);
  EXPECT_TRUE(has(html, "&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST(Page, DevicesStandSideBySideByTheirTimes) {
  const Stored stored(
      {timed("add", "cpu", 2e-3), timed("add", "sim:0", 1e-3), timed("exp", "cpu", 1e-3),
       timed("exp", "sim:0", 8e-3), timed("add", "sim:0+sim:1", 1e-3)},
      sample_run(5, 0), {"cpu", "sim:0", "sim:1"});
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  const std::string speed = part(html, "speed");
  EXPECT_LT(speed.find("tensor_ops/exp"), speed.find("tensor_ops/add")) << "what differs most";
  EXPECT_TRUE(has(speed, "sim:0 (simulated)"));
  EXPECT_FALSE(has(speed, ">sim:1")) << "a device without a result of its own";
  EXPECT_TRUE(has(speed, "several together (simulated)"));
  const std::string against = part(html, "against");
  EXPECT_TRUE(has(against, "0.5 (0.4901 to 0.5101)")) << against;
  EXPECT_TRUE(has(against, "8 (7.842 to 8.162)"));
  EXPECT_TRUE(has(against, "2 (0.5 to 8; 2)")) << "geometric mean, extent and count";
  EXPECT_FALSE(has(against, "1 (1 to 1")) << "the baseline against itself";
  EXPECT_FALSE(has(against, ">slower<")) << "no suspect between products, nor of what is simulated";
  EXPECT_TRUE(has(part(html_of({stored.read()}, "sim:0"), "against"), "Time over that of sim:0"));
  EXPECT_THROW(html_of({stored.read()}, "cuda:0"), UsageError);
}

TEST(Page, RunsStandSideBySideWithWhatChanged) {
  RunInfo newer = sample_run(2, 1);
  newer.git_revision = "4f0c";
  const Stored before({timed("add", "cpu", 1e-3), record("exp", "cpu"), record("log", "cpu")});
  const Stored after(
      {timed("add", "cpu", 1.2e-3), record("exp", "cpu", Status::fail), record("log", "cpu")},
      newer);
  const std::string html = html_of({before.read(), after.read()});
  expect_sound(html);
  const std::string against = part(html, "against");
  EXPECT_TRUE(has(against, "Results of run 2 that differ from run 1: 1"));
  EXPECT_TRUE(has(against, ">slower</td>")) << "of one product: a suspect";
  EXPECT_TRUE(has(against, "tensor_ops/exp/f32/n=1"));
  EXPECT_FALSE(has(against, "tensor_ops/log"));
  EXPECT_TRUE(has(against, "1.2 (1.176 to 1.224)")) << against;
  EXPECT_TRUE(has(against, "href=\"#row=1.0\"")) << "a row of the second run";
  const std::string environment = part(html, "environment");
  const std::size_t at = environment.find("git_revision");
  EXPECT_TRUE(has(environment.substr(at, 60), "differs")) << environment;
  EXPECT_FALSE(has(environment.substr(environment.find(">version"), 30), "differs"));
}

TEST(Page, RatesOfThreeSizesMakeAChart) {
  std::vector<Record> records;
  for (const double n : {1e3, 1e4, 1e5}) records.push_back(timed("add", "cpu", 1e-9 * n, n));
  records.push_back(timed("exp", "cpu", 1e-3));
  const Stored stored(records);
  const std::string charts = part(html_of({stored.read()}), "charts");
  EXPECT_TRUE(has(charts, "<title>tensor_ops/add</title>"));
  EXPECT_FALSE(has(charts, "<title>tensor_ops/exp</title>")) << "of one size";
  EXPECT_TRUE(has(charts, "tensor_ops: each op at one case"));
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
  Limit one{.device = "cpu", .limit = name, .status = value ? Status::pass : Status::error};
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
    LimitsCsv limits(stored.path() / "limits.csv", Start::fresh);
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
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Page, AChartJoinsPointsOfWhichOneSizeAloneChanges) {
  std::vector<Record> records;
  for (const int n : {100, 200, 400}) {
    for (const char* act : {"none", "relu"}) {
      Record one = product("cpu", n, 1e-3);
      one.params = fmt::format("n={};act={}", n, act);
      one.case_id += act;
      records.push_back(one);
    }
  }
  const auto chart = [](const std::string& html) {
    const std::string charts = part(html, "charts");
    const std::size_t at = charts.find("<title>tensor_ops/matmul");
    return charts.substr(at, charts.find("</svg>", at) - at);
  };
  const std::string lines = chart(html_of({Stored(records).read()}));
  EXPECT_TRUE(has(lines, "<title>tensor_ops/matmul f32</title>")) << "what all have in common";
  EXPECT_TRUE(has(lines, ">act=none</text>"));
  EXPECT_EQ(count(lines, "joined"), 2U);
  for (Record& record : records) record.params += fmt::format(";m={}", *record.flops);
  EXPECT_EQ(count(chart(html_of({Stored(records).read()})), "joined"), 0U)
      << "between shapes lies nothing";
}

TEST(Page, AChartOfSeveralDevicesShowsTheSameWorkOnEach) {
  std::vector<Record> records;
  for (const int n : {100, 200, 400}) {
    records.push_back(product("cpu", n, 1e-3));
    records.push_back(product("sim:0", n, 2e-3));
    Record half = product("cpu", n, 1e-4);
    half.dtype = "f16";
    half.case_id += "half";
    records.push_back(half);
  }
  const std::string charts =
      part(html_of({Stored(records, sample_run(9, 0), {"cpu", "sim:0"}).read()}), "charts");
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

TEST(Page, HoldsTheFilesAsTheyAre) {
  const Stored stored({record("add", "cpu")});
  const RunSource source = stored.read();
  EXPECT_EQ(source.results.bytes, read_file(stored.path() / "results.csv"));
  EXPECT_TRUE(has(html_of({source}), "href=\"data:application/gzip;base64,H4sI"));
}

TEST(Page, IsTheSameForTheSameRuns) {
  const Stored stored({timed("add", "cpu", 1e-3)});
  EXPECT_EQ(html_of({stored.read()}), html_of({stored.read()}));
}

TEST(Page, FetchesNothingAndRunsNoScriptButItsOwn) {
  const Stored stored({record("add", "cpu")});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(html, "default-src 'none'"));
  EXPECT_TRUE(has(html, "script-src 'sha256-"));
  for (const char* reference : {" src=", "url(", "@import", "http://", "https://"}) {
    EXPECT_FALSE(has(html, reference)) << reference;
  }
}

PairedCase paired(const std::string& id, PairedVerdict verdict, double ratio, double half_width) {
  PairedCase one{.case_id = id, .device = "cpu", .timing = "batch", .verdict = verdict};
  if (ratio == 0) return one;
  one.ratio = ratio;
  one.ratio_low = ratio - half_width;
  one.ratio_high = ratio + half_width;
  one.margin = 0.02;
  return one;
}

TEST(Page, OfAPairedComparisonShowsWhatRegressedFirst) {
  PairedSource source{.name = "monday", .ended = true, .exit_code = 5};
  source.cases = {paired("equal", PairedVerdict::equivalent, 1.001, 0.01),
                  paired("fresh", PairedVerdict::added, 0, 0),
                  paired("faster", PairedVerdict::improved, 0.5, 0.01),
                  paired("slower", PairedVerdict::regressed, 1.1, 0.02)};
  source.csv = {"monday/ab.csv", "case_id\n"};
  const std::string html = page_html({.paired = {source}});
  expect_sound(html);
  const std::string shown = part(html, "paired");
  EXPECT_TRUE(has(shown, "✗ REGRESSED"));
  EXPECT_TRUE(has(shown, "1.1 (1.08 to 1.12)"));
  EXPECT_LT(shown.find(">slower</a>"), shown.find(">faster</a>"));
  EXPECT_LT(shown.find(">faster</a>"), shown.find(">equal</a>"));
  EXPECT_TRUE(has(shown, "Cases without times"));
  source.ended = false;
  source.exit_code = 0;
  const std::string killed = page_html({.paired = {source}});
  EXPECT_TRUE(has(killed, "✗ INCOMPLETE"));
  EXPECT_FALSE(has(killed, "\"verdict passed\""));
}

TEST(Page, APairedComparisonIsJudgedByItsRowsAndItsExitCode) {
  const auto shown = [](std::vector<PairedCase> cases, int exit_code) {
    PairedSource source{.ended = true, .exit_code = exit_code, .cases = std::move(cases)};
    return page_html({.paired = {source}});
  };
  const PairedCase equal = paired("a", PairedVerdict::equivalent, 1, 0.01);
  const PairedCase open = paired("b", PairedVerdict::inconclusive, 1, 0.1);
  const PairedCase slower = paired("c", PairedVerdict::regressed, 1.2, 0.01);
  const PairedCase skipped = paired("d", PairedVerdict::skipped, 0, 0);
  EXPECT_TRUE(has(shown({equal, open}, 0), "✓ NO REGRESSION"));
  EXPECT_TRUE(has(shown({open, open}, 0), "– INCONCLUSIVE"));
  EXPECT_TRUE(has(shown({equal, slower}, 5), "✗ REGRESSED"));
  EXPECT_TRUE(has(shown({equal, slower}, 0), "✗ ROWS AND EXIT CODE DISAGREE"));
  EXPECT_TRUE(has(shown({equal}, 5), "✗ ROWS AND EXIT CODE DISAGREE"));
  EXPECT_TRUE(has(shown({skipped}, 3), "✗ NOT COMPARED"));
  EXPECT_TRUE(has(shown({}, 3), "✗ NOT COMPARED"));
  EXPECT_TRUE(has(shown({paired("e", PairedVerdict::missing, 0, 0)}, 1), "✗ FAILED"));
  EXPECT_TRUE(has(shown({paired("e", PairedVerdict::broken, 0, 0)}, 4), "✗ BROKEN"));
}

TEST(Page, WhatIsSlowerWithoutAnIntervalIsNotHiddenBehindQuietCases) {
  std::vector<Record> before;
  std::vector<Record> after;
  for (int i = 0; i < 60; ++i) {
    before.push_back(timed("add", "cpu", 1e-3, 1000 + i));
    after.push_back(timed("add", "cpu", 1.01e-3, 1000 + i));
  }
  before.push_back(timed("loud", "cpu", 1e-3, 5));
  after.push_back(timed("loud", "cpu", 1e-2, 5));
  after.back().time_ci_low_s.reset();
  after.back().time_ci_high_s.reset();
  const Stored base(before);
  const Stored cand(after);
  const std::string against = part(html_of({base.read(), cand.read()}), "against");
  EXPECT_TRUE(has(against, "tensor_ops/loud"));
  EXPECT_TRUE(has(against, "21 more, less sure to differ than these, are not drawn."));
}

TEST(Forest, SeverityIsRelativeToTheNoiseOfTheCase) {
  const ForestRow sure{.ratio = {1.1, 1.09, 1.11}};
  const ForestRow unsure{.ratio = {1.3, 0.9, 1.9}};
  EXPECT_GT(severity_of(sure), severity_of(unsure));
  EXPECT_NEAR(severity_of(sure), 10.45, 0.1) << "log 1.1 over half of log(1.11 / 1.09)";
  EXPECT_EQ(severity_of({.ratio = {1, 1, 1}}), 0);
  EXPECT_EQ(severity_of({.ratio = {2, 2, 2}}), std::numeric_limits<double>::infinity());
  EXPECT_LT(severity_of({.ratio = {10, 0, 0}}), severity_of({.ratio = {1, 1, 1}}))
      << "without an interval nothing says how sure it is";
}

TEST(Page, IsCutWhereItWouldBeEndless) {
  std::vector<Record> records;
  for (int i = 0; i < 4000; ++i) {
    Record one = record("add", "cpu", i % 4 == 0 ? Status::fail : Status::pass);
    one.case_id = fmt::format("tensor_ops/add/f32/n={}", i);
    records.push_back(std::move(one));
  }
  const Stored stored(records, sample_run(4000, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "950 more: "));
  EXPECT_TRUE(has(part(html, "correctness"), "1000 cases that are not plainly right, of 4000"));
  EXPECT_TRUE(
      has(part(html, "correctness"), "500 of them, no worse than these, are left out here"));
}

}  // namespace
}  // namespace assay::page
