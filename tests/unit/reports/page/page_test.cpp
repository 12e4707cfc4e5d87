#include "kernels/core/status.h"
#include "reports/page/wrong_pattern.h"
#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

const std::string hostile = "<script>alert(1)</script>\"',\n</style>&\xFF";

TEST(Page, OfARunThatPassed) {
  const Stored stored({timed("add", "cpu", 1e-3), timed("exp", "cpu", 2e-3)});
  const std::string html = html_of({stored.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "✓ PASSED"));
  EXPECT_TRUE(has(part(html, "verdict"), ">All 2 results are right</h1>"));
  EXPECT_TRUE(has(part(html, "problems"), "Nothing is wrong"));
  EXPECT_TRUE(has(part(html, "correctness"), "✓ 1/1"));
  EXPECT_TRUE(
      has(part(html, "speed"), "8.00 GB/s</a> <small class=\"interval\">7.92 to 8.08</small>"))
      << part(html, "speed");
  EXPECT_TRUE(has(part(html, "environment"), "a cpu"));
  EXPECT_EQ(part(html, "against"), "") << "one device has nothing beside it";
}

TEST(Page, TellsWhereRowsChangeTheirBitsWithTheBatch) {
  Record same = record("softmax", "cpu");
  same.batch_invariant = true;
  Record changes = record("linear", "cpu");
  changes.batch_invariant = false;
  changes.other_bits_at_rows = "1;16";
  const Stored stored({record("add", "cpu"), same, changes}, sample_run(3, 0));
  const std::string bits = part(html_of({stored.read()}), "bits");
  EXPECT_TRUE(has(bits, "✓ all 1")) << bits;
  EXPECT_TRUE(has(bits, "<a href=\"#row=0.2\">1 of 1 change</a>")) << bits;
  EXPECT_TRUE(has(bits, "at 1, 16")) << bits;
  EXPECT_FALSE(has(bits, "add"));
  EXPECT_EQ(part(html_of({Stored({record("add", "cpu")}).read()}), "bits"), "") << "not tried";
}

TEST(Page, ShowsLinksAsSendersAgainstReceivers) {
  std::vector<Record> trials;
  for (const std::string lane : {"cuda:0>cuda:1", "cuda:1>cuda:0", "cuda:2>cuda:0"}) {
    trials.push_back(timed("peer_memcpy", lane, lane.starts_with("cuda:2") ? 4e-3 : 1e-3));
  }
  const std::string links = part(html_of({Stored(trials).read()}), "links");
  EXPECT_TRUE(has(links, "the slowest has 0.25 of the median")) << links;
  EXPECT_TRUE(has(links, "2.00 GB/s</a> <small class=\"mark\">slowest</small>")) << links;
  EXPECT_EQ(part(html_of({Stored({timed("add", "cpu", 1e-3)}).read()}), "links"), "");
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
  EXPECT_TRUE(has(part(html, "verdict"), "3 of 4 results are not right: 2 wrong, 1 crashed"));
  const std::string problems = part(html, "problems");
  EXPECT_TRUE(has(problems, "What is wrong: 3 results, 3 causes"));
  EXPECT_LT(problems.find("cpu log"), problems.find("cpu exp")) << "farther off";
  EXPECT_LT(problems.find("cpu exp"), problems.find("cpu sub")) << "wrong first";
  EXPECT_TRUE(has(problems, "at [5]: expected <b>1.5</b>, got <b>nan</b>"));
  EXPECT_TRUE(has(problems, "NaN where a number belongs"));
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

TEST(Page, FailuresOfOneCauseAreOneBlockWithTheWorstAndOneCommand) {
  std::vector<Record> records;
  for (int i = 0; i < 5; ++i) {
    Record one = record("add", "sim:1", Status::fail);
    one.case_id = fmt::format("tensor_ops/add/f32/n={}", i);
    one.reason = fmt::format("{} of 8 elements wrong", i + 1);
    one.replay = fmt::format("assay run --case {}", one.case_id);
    one.mismatches = i + 1;
    one.worst_index = i;
    one.worst_expected = "1";
    one.worst_actual = "1.00000012";
    one.caught_by = Check::exact;
    records.push_back(one);
  }
  Record other = records.front();  // of another pattern
  other.case_id = "tensor_ops/add/f32/n=9";
  other.worst_actual = "nan";
  records.push_back(other);
  records.push_back(record("add", "sim:1"));
  records.back().case_id = "tensor_ops/add/f32/n=10";
  const Stored stored(records, sample_run(7, 1), {"sim:1"});
  const Json groups = data_of({stored.read()})["problems"]["groups"];
  ASSERT_EQ(groups.size(), 2U) << groups.dump(1);
  const Json& bits = groups[0]["pattern"] == "one bit off" ? groups[0] : groups[1];
  EXPECT_EQ(bits["pattern"], "one bit off");
  EXPECT_EQ(bits["count"], 5);
  EXPECT_EQ(bits["of"], "7");
  EXPECT_EQ(bits["check"], "exact");
  EXPECT_EQ(bits["replay"], "assay run --case tensor_ops/add/f32/n=4") << "of the worst";
  EXPECT_EQ(bits["others"].size(), 4U);
  EXPECT_EQ(count(html_of({stored.read()}), "data-copy="), 2U);
}

TEST(Page, OneBitIsOneBitInEachDtype) {
  const auto pattern = [](const std::string& dtype, const std::string& expected,
                          const std::string& actual) {
    Record one = record("add", "cpu", Status::fail);
    one.dtype = dtype;
    one.worst_index = 0;
    one.worst_expected = expected;
    one.worst_actual = actual;
    return wrong_pattern(one);
  };
  EXPECT_EQ(pattern("f64", "1", "1.0000000000000002"), "one bit off");
  EXPECT_EQ(pattern("bf16", "1", "1.0078125"), "one bit off");
  EXPECT_EQ(pattern("f16", "1", "1.0009765625"), "one bit off");
  EXPECT_EQ(pattern("i64", "5", "4"), "one bit off");
  EXPECT_EQ(pattern("i64", "5", "6"), "other values");
  EXPECT_EQ(pattern("f32", "1.5", "0"), "zero where a value belongs");
  EXPECT_EQ(pattern("f32", "1.5", "-1.5"), "the sign flipped");
  EXPECT_EQ(pattern("f32", "1.5", "2.75"), "other values");
}

TEST(Page, ACaseOfPlacementSaysWhatItStandsFor) {
  Record moved = record("move_stays", "cpu", Status::fail);
  moved.suite = "placement";
  moved.case_id = "placement/move_stays/f32/n=1003";
  const Stored stored({moved}, sample_run(1, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "Stands for: a move to the same device is none."));
  EXPECT_TRUE(has(part(html, "correctness"), "a move to the same device is none"));
}

TEST(Page, AGreenPageDoesNotHideThatItsTimesAreWorthless) {
  std::vector<Record> records;
  for (int i = 0; i < 4; ++i) records.push_back(timed("add", "cpu", 1e-3, 1000 + i));
  for (int i = 0; i < 3; ++i) records[static_cast<std::size_t>(i)].contended = true;
  const Json verdict = data_of({Stored(records, sample_run(4, 0)).read()})["verdict"];
  EXPECT_EQ(verdict["sentence"],
            "All 4 results are right; 3 of 4 times were taken on a busy machine");
  const Json& quality = verdict["tiles"].back();
  EXPECT_EQ(quality["kind"], "amber");
  EXPECT_EQ(quality["figure"], "3");
  EXPECT_EQ(quality["of"], "of 4 contended");
  for (Record& one : records) one.contended = false;
  const Json quiet = data_of({Stored(records, sample_run(4, 0)).read()})["verdict"];
  EXPECT_EQ(quiet["tiles"].back()["kind"], "");
}

TEST(Page, ContendedIsSaidOnceAndExceptionsAreMarked) {
  std::vector<Record> records{timed("add", "cpu", 1e-3), timed("exp", "cpu", 1e-3),
                              timed("sub", "cpu", 1e-3)};
  records[0].contended = records[1].contended = true;
  const std::string speed = part(html_of({Stored(records, sample_run(3, 0)).read()}), "speed");
  EXPECT_TRUE(has(speed, "2 of 3 were taken on a busy machine; the others say quiet."));
  EXPECT_EQ(count(speed, ">quiet</small>"), 1U);
  EXPECT_EQ(count(speed, ">contended</small>"), 0U);
}

TEST(Page, SharesOfAllSuitesStandOnOneAxisAndTheRestOnThatOfTheirUnit) {
  Record add = timed("add", "cpu", 1e-3);
  add.fraction_of_limit = 0.5;
  Record other = add;
  other.suite = other.op = "transfers";
  other.case_id = "transfers/f32/n=1";
  const Stored stored({add, other, timed("exp", "cpu", 1e-3)}, sample_run(3, 0));
  const Json bars = data_of({stored.read()})["speed"]["bars"];
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(bars[0]["heading"], "Share of the measured limit");
  EXPECT_EQ(count(bars[0]["charts"][0]["chart"].get<std::string>(), "class=\"bar\""), 2U);
  EXPECT_EQ(bars[1]["heading"], "Bandwidth of ops without a limit");
}

TEST(Page, AShareMeasuredInTurnsHasItsOwnInterval) {
  Record add = timed("add", "cpu", 1e-3);
  add.fraction_of_limit = 0.5;
  const auto speed_of = [&] {
    return part(html_of({Stored({add}, sample_run(1, 0)).read()}), "speed");
  };
  EXPECT_FALSE(has(speed_of(), "42% to 61%"));
  add.turns_with_limit = 17;
  add.fraction_ci_low = 0.42;
  add.fraction_ci_high = 0.61;
  EXPECT_TRUE(has(speed_of(), "42% to 61%"));
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
  EXPECT_TRUE(has(problems, "; allowed: none (exact); 1 of 8 elements"));
  EXPECT_EQ(count(problems, "allowed: none"), 1U);
  EXPECT_GT(problems.find("cpu tanh"), problems.find("cpu exp"));
  EXPECT_GT(problems.find("cpu tanh"), problems.find("cpu log"));
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
  EXPECT_TRUE(
      has(problems, "No result of the run is wrong, but it did not pass: 1 right (interrupted)"));
  EXPECT_FALSE(has(problems, "none is missing"));
}

TEST(Page, AcceptedFlakyResultsAreNoProblem) {
  Record first = record("exp", "cpu", Status::fail);
  Record second = record("exp", "cpu");
  second.attempt = 2;
  RunInfo run = sample_run(1, 0);
  run.allow_flaky = true;
  const Stored stored({first, second}, run);
  EXPECT_TRUE(has(part(html_of({stored.read()}), "problems"), "Nothing is wrong"));
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
  EXPECT_TRUE(has(part(html, "problems"), "Nothing is wrong"));
  EXPECT_TRUE(has(part(html, "correctness"), "○ 0/1 1 expected"));
  EXPECT_TRUE(has(part(html, "correctness"), "– 0/1 1 skipped"));
  EXPECT_TRUE(has(part(html, "correctness"), "<b>1</b> of 2 right <small>1 skipped"))
      << "of those that ran";
}

TEST(Page, AFigureOfTooFewSamplesSaysSoWhereItsIntervalWouldBe) {
  Record few = timed("add", "cpu", 1e-3);
  few.samples = 5;
  few.time_ci_low_s.reset();
  few.time_ci_high_s.reset();
  const Stored stored({few, timed("exp", "cpu", 1e-3)});
  const std::string speed = part(html_of({stored.read()}), "speed");
  EXPECT_TRUE(has(speed, "8.00 GB/s</a> <small class=\"interval\">too few samples</small>"))
      << speed;
  EXPECT_EQ(count(speed, "too few samples"), 1U);
}

TEST(Page, TheLastAttemptDecidesAndIsTheRowThatIsLinked) {
  Record first = record("exp", "cpu", Status::fail);
  Record second = record("exp", "cpu");
  second.attempt = 2;
  const Stored stored({record("add", "cpu"), first, second}, sample_run(2, 1));
  const std::string html = html_of({stored.read()});
  EXPECT_TRUE(has(part(html, "problems"), "✗ 1 flaky"));
  EXPECT_TRUE(has(part(html, "problems"), "href=\"#row=0.2\""));
}

TEST(Page, OfARunThatWasKilledOrDidNothing) {
  const Stored killed({record("add", "cpu")}, sample_run(1, 0), {"cpu"}, false);
  std::string results = read_file(killed.path() / "results.csv");
  write_file(killed.path() / "results.csv", results + "1,torn");
  const RunSource source = killed.read();
  EXPECT_EQ(source.results.bytes, results) << "whole rows alone";
  EXPECT_TRUE(has(html_of({source}), "– INCOMPLETE"));

  const Stored empty({}, sample_run(0, 3));
  const std::string html = html_of({empty.read()});
  expect_sound(html);
  EXPECT_TRUE(has(part(html, "verdict"), "– INCOMPLETE"));
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
  const std::string problems = part(html, "problems");
  EXPECT_TRUE(has(problems, "1,000 results, 1 cause"));
  EXPECT_TRUE(has(problems, "950 more: "));
  EXPECT_EQ(count(problems, "tensor_ops/<wbr/>add/"), 50U);
}

}  // namespace
}  // namespace assay::page
