#include "kernels/core/status.h"
#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

const std::string hostile = "<script>alert(1)</script>\"',\n</style>&\xFF";

TEST(Page, OfARunThatPassed) {
  const Stored stored({timed("add", "cpu", 1e-3), timed("exp", "cpu", 2e-3)});
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "✓ PASSED"));
  EXPECT_TRUE(has(part(html, "problems"), "What is not right: 0"));
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
  EXPECT_TRUE(has(part(html, "verdict"), "3 results of 4 not right: 2 wrong, 1 broken"));
  const std::string problems = part(html, "problems");
  EXPECT_TRUE(has(problems, "What is not right: 3"));
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
  flipped.elements = 8;
  flipped.mismatches = 1;
  flipped.worst_index = 0;
  flipped.worst_allowed = 0;
  Record nan = record("log", "cpu", Status::fail);  // and infinity is an empty cell
  Record slightly = record("tanh", "cpu", Status::fail);
  slightly.max_bound_ratio = 1.01;
  const Stored stored({slightly, flipped, nan}, sample_run(3, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_FALSE(has(part(html, "correctness"), "wrong exact"));
  EXPECT_TRUE(has(part(html, "correctness"), "1 wrong 1×"));
  const std::string problems = part(html, "problems");
  EXPECT_FALSE(has(problems, "0 times the allowed error"));
  EXPECT_TRUE(has(problems, "; allowed: none (exact)"));
  EXPECT_EQ(count(problems, "allowed: none"), 1U);
  EXPECT_GT(problems.find("tensor_ops/tanh"), problems.find("tensor_ops/exp"));
  EXPECT_GT(problems.find("tensor_ops/tanh"), problems.find("tensor_ops/log"));
}

TEST(Page, WhatIsExactlyRightSaysSoWithABoundAndWithoutOne) {
  Record exact = record("add", "cpu");
  exact.elements = 8;
  Record bounded = record("exp", "cpu");
  bounded.elements = 8;
  bounded.max_bound_ratio = 0;
  Record close = bounded;
  close.case_id = "tensor_ops/tanh/f32/n=1";
  close.op = "tanh";
  close.max_bound_ratio = 0.4;
  const Stored stored({exact, bounded, close});
  const std::string shown = part(html_of({stored.read()}), "correctness");
  EXPECT_EQ(count(shown, "✓ 1/1 exact<"), 2U) << shown;
  EXPECT_EQ(count(shown, "✓ 1/1 0.4×<"), 1U) << shown;
}

TEST(Page, ARowThatIsThereTwiceIsRefusedAsItWouldHideAMissingOne) {
  const Stored stored({record("add", "cpu"), record("add", "cpu")});
  EXPECT_PRED_FORMAT2(::testing::IsSubstring,
                      "results.csv:3:1: a second row of tensor_ops/add/f32/n=1",
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
  EXPECT_TRUE(has(part(html_of({stored.read()}), "problems"), "What is not right: 0"));
}

TEST(Page, TheFileOfARunThatEndedIsWhole) {
  const Stored stored({record("add", "cpu")});
  std::string results = read_file(stored.path() / "results.csv");
  results.pop_back();  // removes the last line end, as an editor may
  write_file(stored.path() / "results.csv", results);
  EXPECT_EQ(stored.read().results.bytes, results);
}

TEST(Page, KnownFailuresAndSkipsAreNoProblems) {
  Record known = record("exp", "cpu", Status::fail);
  known.expected_failure = "a bug";
  const Stored stored({record("add", "cpu"), known, record("log", "cpu", Status::skip)});
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "What is not right: 0"));
  EXPECT_TRUE(has(part(html, "correctness"), "○ 0/1 1 expected"));
  EXPECT_TRUE(has(part(html, "correctness"), "– 0/1 1 skipped"));
}

TEST(Page, AFigureOfTooFewSamplesSaysSoWhereItsIntervalWouldBe) {
  Record few = timed("add", "cpu", 1e-3);
  few.samples = 5;
  few.time_ci_low_s.reset();
  few.time_ci_high_s.reset();
  const Stored stored({few, timed("exp", "cpu", 1e-3)});
  const std::string speed = part(html_of({stored.read()}), "speed");
  EXPECT_TRUE(has(speed, "8.00 GB/s (too few samples)")) << speed;
  EXPECT_EQ(count(speed, "too few samples"), 1U);
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
