#include <limits>

#include "kernels/core/status.h"
#include "reports/page/forest.h"
#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

TEST(Page, ALaneIsSimulatedByItsOwnDevices) {
  const Stored stored(
      {timed("add", "sim:0", 1e-3), timed("add", "cpu", 1e-3), timed("add", "sim:0>sim:1", 1e-3)},
      sample_run(3, 0), {"sim:0", "sim:1", "cpu"});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "correctness"), "several together (simulated)"));
  EXPECT_FALSE(has(part(html, "correctness"), "cpu (simulated)"));
  EXPECT_FALSE(has(part(html, "speed"), "(simulated)")) << "which has no speed";
  EXPECT_TRUE(
      has(part(html, "verdict"), "2 of 3 devices are simulated: their figures are no hardware"));
  EXPECT_TRUE(has(part(html, "environment"), "sim:1 (simulated)")) << "also without a trial";
}

TEST(Page, RatesStandBesideEachOtherForTheSameCase) {
  const Stored stored({timed("add", "cpu", 1e-3, 1e6), timed("add", "cpu", 8e-3, 8e6),
                       timed("add", "cuda:0", 2e-3, 1e6)},
                      sample_run(3, 0), {"cpu", "cuda:0"});
  const std::string speed = part(html_of({stored.read()}), "speed");
  EXPECT_TRUE(has(speed, "8.00 GB/s</a> <small class=\"interval\">7.92 to 8.08</small>"))
      << "of the case that both have";
  EXPECT_TRUE(has(speed, "2.00× slower")) << speed;
}

TEST(Page, MachinesAreNamedByWhatTellsThemApart) {
  const Stored stored({timed("add", "cpu", 1e-3)});
  std::vector<RunSource> runs{stored.read(), stored.read(), stored.read()};
  const auto sentence = [&] { return data_of(runs)["verdict"]["sentence"].get<std::string>(); };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].results.name = fmt::format("20261122T13000{}Z-node/results.csv", i);
    runs[i].trials[0].time_median_s = 1e-3 * static_cast<double>(i + 1);
  }
  EXPECT_TRUE(has(sentence(),
                  "cpu of run 1 is the fastest; cpu of run 2 is 2.00× slower, cpu of run 3 is "
                  "3.00× slower"))
      << sentence();
  runs[0].results.name = "monday/results.csv";
  EXPECT_TRUE(has(sentence(), "cpu of run 1 is the fastest")) << "two have no name of their own";
  runs[1].results.name = "tuesday/results.csv";
  runs[2].results.name = "friday/results.csv";
  EXPECT_TRUE(has(sentence(), "monday is the fastest; tuesday is 2.00× slower")) << sentence();
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].run.host = fmt::format("node{}", i);
  EXPECT_TRUE(has(sentence(), "node0 is the fastest")) << sentence();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].devices[0]["name"] = fmt::format("Example {}", i);
  }
  EXPECT_TRUE(has(sentence(), "Example 0 is the fastest")) << sentence();
}

TEST(Page, WhatDiffersLeavesOutTheOptionsOfAllRuns) {
  RunInfo plain = sample_run(1, 0);
  plain.command_line = {"assay", "run", "--suite", "linear"};
  RunInfo other = plain;
  other.command_line.insert(other.command_line.end(), {"--threads", "1"});
  const Json differences =
      data_of({Stored({timed("add", "cpu", 1)}, plain).read(),
               Stored({timed("add", "cpu", 1)}, other).read()})["verdict"]["differences"];
  EXPECT_EQ(differences["rows"][0]["cells"][1]["text"], "–") << differences.dump();
  EXPECT_EQ(differences["rows"][0]["cells"][2]["text"], "--threads 1");
}

TEST(Page, WhatStandsForADeviceHasNoSpeed) {
  const Stored stored({timed("add", "cpu", 1e-3), timed("add", "sim:0", 2e-3)}, sample_run(2, 0),
                      {"cpu", "sim:0"});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "speed"), "8.00 GB/s"));
  EXPECT_FALSE(has(part(html, "speed"), "4.00 GB/s"));
  EXPECT_FALSE(has(html, "2.00× slower")) << "nor a ratio to it";
}

TEST(Page, RunsOfWhichOneLacksTrialsSaySo) {
  const Stored before({record("add", "cpu"), record("exp", "cpu")});
  const Stored after({record("add", "cpu"), record("log", "cpu")});
  const Stored other({record("sub", "cpu")});
  const std::string against = part(html_of({before.read(), after.read(), other.read()}), "against");
  const auto differ = [](const Stored& a, const Stored& b, int count) {
    return fmt::format("Results of {} that differ from {}: {}", a.path().filename().string(),
                       b.path().filename().string(), count);
  };
  EXPECT_TRUE(has(against, differ(after, before, 2)));
  EXPECT_TRUE(has(against, "<td>missing</td>"));
  EXPECT_TRUE(has(against, "<td>absent: new</td>"));
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

TEST(Page, DevicesStandSideBySideByTheirTimes) {
  const Stored stored(
      {timed("add", "cpu", 2e-3), timed("add", "cuda:0", 1e-3), timed("exp", "cpu", 1e-3),
       timed("exp", "cuda:0", 8e-3), timed("add", "cuda:0+cuda:1", 1e-3)},
      sample_run(5, 0), {"cpu", "cuda:0", "cuda:1"});
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  const std::string whole = part(html, "speed");
  const std::string speed = whole.substr(whole.find("<table"));
  EXPECT_LT(speed.find("tensor_ops/exp"), speed.find("tensor_ops/add")) << "what differs most";
  EXPECT_TRUE(has(speed, "cuda:0"));
  EXPECT_FALSE(has(speed, ">cuda:1")) << "a device without a result of its own";
  EXPECT_TRUE(has(speed, "several together"));
  const std::string against = part(html, "against");
  const std::string interval = " <small class=\"interval\">";
  EXPECT_TRUE(has(against, "2.00× faster" + interval + "0.5000 (0.4901 to 0.5101)<")) << against;
  EXPECT_TRUE(has(against, "8.00× slower" + interval + "8.000 (7.842 to 8.162)<"));
  EXPECT_TRUE(has(against, "2.00× slower" + interval + "0.5 to 8; 2 trials<")) << "geometric mean";
  EXPECT_FALSE(has(against, "the same")) << "the baseline against itself";
  EXPECT_FALSE(has(against, "▲ slower")) << "no suspect between products";
  EXPECT_TRUE(has(part(html_of({stored.read()}, "cuda:0"), "against"), "Time against cuda:0"));
  EXPECT_THROW(html_of({stored.read()}, "cuda:7"), UsageError);
}

TEST(Page, TheTitleSaysWhichIsFasterAndTheTopWhatDiffers) {
  RunInfo newer = sample_run(1, 0);
  newer.git_revision = "4f0c";
  const Stored before({timed("add", "cpu", 1.8e-3)});
  const Stored after({timed("add", "cpu", 1e-3)}, newer);
  const Json verdict = data_of({before.read(), after.read()})["verdict"];
  EXPECT_EQ(verdict["sentence"],
            fmt::format("{} is 1.80× faster than {}; both runs are right",
                        after.path().filename().string(), before.path().filename().string()));
  EXPECT_EQ(verdict["side_by_side"]["rows"].size(), 2U);
  EXPECT_EQ(verdict["differences"]["rows"].size(), 1U);
  EXPECT_TRUE(has(verdict["differences"].dump(), "git_revision"));
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
  EXPECT_TRUE(has(
      against, fmt::format("Results of {} that differ from {}: 1", after.path().filename().string(),
                           before.path().filename().string())));
  EXPECT_TRUE(has(against, ">▲ slower</td>")) << "of one product: a suspect";
  EXPECT_TRUE(has(against, "tensor_ops/<wbr/>exp/<wbr/>f32/<wbr/>n=1"));
  EXPECT_FALSE(has(against, "tensor_ops/<wbr/>log"));
  EXPECT_TRUE(has(against, "1.20× slower <small class=\"interval\">1.200 (1.176 to 1.224)<"))
      << against;
  EXPECT_TRUE(has(against, "href=\"#row=1.0\"")) << "a row of the second run";
  const std::string environment = part(html, "environment");
  const std::size_t at = environment.find("git_revision");
  EXPECT_TRUE(has(environment.substr(at, 60), "differs")) << environment;
  EXPECT_FALSE(has(environment.substr(environment.find(">version"), 30), "differs"));
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
  EXPECT_TRUE(has(part(html, "verdict"), ">1 case is slower: slower by 10.0%</h1>"));
  EXPECT_TRUE(has(part(html, "verdict"), "✗ FAILED"));
  EXPECT_TRUE(has(part(html, "verdict"), "<h2>Slower</h2>"));
  EXPECT_TRUE(has(shown, "1.10× slower <small class=\"interval\">1.100 (1.080 to 1.120)<"));
  EXPECT_LT(shown.find(">slower<wbr/></a>"), shown.find(">faster<wbr/></a>"));
  EXPECT_LT(shown.find(">faster<wbr/></a>"), shown.find(">equal<wbr/></a>"));
  EXPECT_TRUE(has(shown, "Cases without times"));
  source.ended = false;
  source.exit_code = 0;
  const std::string killed = page_html({.paired = {source}});
  EXPECT_TRUE(has(killed, "– INCOMPLETE"));
  EXPECT_FALSE(has(killed, "\"verdict passed\""));
  source.ended = source.interrupted = true;
  EXPECT_TRUE(has(page_html({.paired = {source}}), "✗ FAILED")) << "as on the console";
  source.cases = {paired("equal", PairedVerdict::equivalent, 1.001, 0.01)};
  EXPECT_TRUE(has(page_html({.paired = {source}}), "– INCOMPLETE"));
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
  const auto expect = [&](const std::vector<PairedCase>& cases, int exit_code,
                          const std::string& word, const std::string& sentence) {
    const std::string html = shown(cases, exit_code);
    EXPECT_TRUE(has(part(html, "verdict"), "<b>" + word + "</b>")) << part(html, "verdict");
    EXPECT_TRUE(has(part(html, "verdict"), sentence)) << part(html, "verdict");
  };
  expect({equal, open}, 0, "✓ PASSED", "No regression: 1 equivalent, 1 inconclusive");
  for (const int exit_code : {0, 6}) {
    expect({open, open}, exit_code, "– INCOMPLETE",
           "No case decided, 2 inconclusive: this run could have seen changes of 14% or more in "
           "all cases");
  }
  expect({equal, slower}, 5, "✗ FAILED", "1 case is slower");
  expect({equal, slower}, 0, "✗ FAILED", "Rows and exit code 0 disagree");
  expect({equal}, 5, "✗ FAILED", "Rows and exit code 5 disagree");
  expect({skipped}, 3, "– INCOMPLETE", "1 skipped");
  expect({}, 3, "– INCOMPLETE", "No case was compared");
  expect({paired("e", PairedVerdict::missing, 0, 0)}, 1, "✗ FAILED", "1 missing");
  expect({paired("e", PairedVerdict::broken, 0, 0)}, 4, "✗ FAILED", "1 broken");
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
  EXPECT_TRUE(has(against, "tensor_ops/<wbr/>loud"));
  EXPECT_TRUE(has(against, ">too few samples</td>"));
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

}  // namespace
}  // namespace assay::page
