#include "reports/files/github.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "reports/files/summary.h"
#include "tests/unit/reports_support.h"
#include "tests/unit/scoped_variable.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::IsNotSubstring;
using ::testing::IsSubstring;

Record wrong(int n, Status status, const std::string& reason) {
  Record record = sample_record(n, status);
  record.reason = reason;
  return record;
}

RunInfo run_in_out(std::int64_t planned, int exit_code) {
  RunInfo run = sample_run(planned, exit_code);
  run.directory = "out";
  return run;
}

/// Returns the text that a report of these records prints at its end.
std::string printed(const std::filesystem::path& summary, const RunInfo& run,
                    const std::vector<Record>& records) {
  const Outcomes outcomes(records);
  GithubReport report(summary, outcomes);
  ::testing::internal::CaptureStderr();
  report.end(run);
  return ::testing::internal::GetCapturedStderr();
}

TEST(GithubAnnotations, TextOfOthersIsNeitherACommandNorObeyedByATerminal) {
  Record record = wrong(1, Status::crash, "signal 6: \x1b[2J\n::stop-commands::x\n##[error]y\x7f");
  record.case_id = "a\n::error::b";
  record.replay = "";
  RunInfo run = sample_run(1, 4);
  run.notes = {"::add-mask::z\x9b"};
  const std::string text = github_annotations(run, Outcomes(std::vector{record}));
  EXPECT_EQ(
      text,
      R"(::error title=crash%3A a%0A\x3a%3Aerror%3A%3Ab on cpu::signal 6: \x1b[2J%0A\x3a:stop-commands::x%0A\x23#[error]y\x7f
::notice title=assay::\x3a:add-mask::z\x9b
)");
}

TEST(GithubAnnotations, AGreenRunSaysNothing) {
  const std::vector<Record> records{sample_record(1), sample_record(2, Status::skip)};
  EXPECT_EQ(github_annotations(sample_run(2, 0), Outcomes(records)), "");
}

TEST(GithubAnnotations, AreExactlyThese) {
  std::vector<Record> records;
  records.push_back(wrong(1, Status::crash, "signal 11"));
  records.push_back(sample_record(2));
  records.push_back(wrong(3, Status::flaky, "attempt 1: fail: 1 of 4 elements wrong"));
  records.push_back(wrong(4, Status::fail, "100%: 4 of 4, all\r\nwrong"));
  records.push_back(wrong(5, Status::vacuous, ""));
  records[4].replay = "";
  records[4].case_id = "a:b,c%\nd";
  EXPECT_EQ(
      github_annotations(sample_run(5, 1), Outcomes(records)),
      R"(::error title=fail%3A copy/f32/n=4 on cpu::100%25: 4 of 4, all%0D%0Awrong%0Areplay: assay run --case copy/f32/n=4 --device cpu
::error title=vacuous%3A a%3Ab%2Cc%25%0Ad on cpu::no reason given
::error title=crash%3A copy/f32/n=1 on cpu::signal 11%0Areplay: assay run --case copy/f32/n=1 --device cpu
::warning title=flaky%3A copy/f32/n=3 on cpu::attempt 1: fail: 1 of 4 elements wrong%0Areplay: assay run --case copy/f32/n=3 --device cpu
)");
}

TEST(GithubAnnotations, CoverEachStatus) {
  for (const Status status : all_statuses()) {
    const std::string text = github_annotations(
        sample_run(2, 1), Outcomes(std::vector{sample_record(1), wrong(2, status, "r")}));
    const bool warns = status == Status::flaky;
    const bool silent = status == Status::pass || status == Status::skip;
    EXPECT_EQ(text.find(fmt::format("::{} title={}%3A", warns ? "warning" : "error",
                                    name(status))) != std::string::npos,
              !silent)
        << text;
    EXPECT_TRUE(text.starts_with("::error")) << "red, whatever it was: " << text;
  }
}

TEST(GithubAnnotations, ARunThatNoResultShowsToBeRedIsOneError) {
  EXPECT_EQ(github_annotations(sample_run(0, 3), Outcomes()),
            "::error title=assay%3A INCOMPLETE::nothing ran\n");
  EXPECT_EQ(github_annotations(sample_run(5, 4), Outcomes(std::vector{sample_record(1)})),
            "::error title=assay%3A INCOMPLETE::1 right, 4 of 5 not run\n");
}

TEST(GithubAnnotations, FlakyResultsAreAnErrorOnlyWhereTheyFailedTheRun) {
  Record flaky = wrong(1, Status::flaky, "first wrong");
  flaky.replay = "";
  const std::string warning = "::warning title=flaky%3A copy/f32/n=1 on cpu::first wrong\n";
  RunInfo allowing = sample_run(1, 0);
  allowing.allow_flaky = true;
  EXPECT_EQ(github_annotations(allowing, Outcomes(std::vector{flaky})), warning);
  EXPECT_EQ(github_annotations(sample_run(1, 1), Outcomes(std::vector{flaky})),
            "::error title=assay%3A FAILED::1 flaky\n" + warning);
}

TEST(GithubAnnotations, AreTenOfAKindAndSayHowManyMore) {
  std::vector<Record> records;
  for (int n = 0; n < 12; ++n) records.push_back(wrong(n, Status::error, "e"));
  for (int n = 12; n < 23; ++n) records.push_back(wrong(n, Status::flaky, "w"));
  const std::string text = github_annotations(run_in_out(23, 1), Outcomes(records));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 21);
  EXPECT_PRED_FORMAT2(IsSubstring, "n=9 on cpu::e", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "n=10 on cpu::e", text);
  EXPECT_PRED_FORMAT2(IsSubstring, "n=21 on cpu::w", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "n=22 on cpu::w", text);
  EXPECT_TRUE(
      text.ends_with("::notice title=assay::2 more errors and 1 more warning in out/results.csv\n"))
      << text;
  records.resize(11);
  EXPECT_TRUE(github_annotations(run_in_out(11, 4), Outcomes(records))
                  .ends_with("\n::notice title=assay::1 more error in out/results.csv\n"));
}

TEST(GithubAnnotations, AreShortEnoughToKeepTheReplay) {
  std::string reason(999, 'x');
  reason += "µ and more\xFF";
  const std::string text =
      github_annotations(sample_run(1, 1), Outcomes(std::vector{wrong(1, Status::fail, reason)}));
  EXPECT_PRED_FORMAT2(IsSubstring, "x…%0Areplay: assay run --case", text);
  EXPECT_PRED_FORMAT2(IsNotSubstring, "µ", text);
}

TEST(GithubReport, PrintsTheAnnotationsAndAppendsTheSummary) {
  const TemporaryDirectory directory;
  const auto file = directory / "summary";
  const std::vector<Record> records{wrong(1, Status::fail, "bad")};
  const RunInfo run = sample_run(1, 1);
  EXPECT_EQ(printed(file, run, records), github_annotations(run, Outcomes(records)));
  EXPECT_EQ(read_file(file), summary_markdown(run, Outcomes(records)));

  write_file(file, "# from an earlier command");
  printed(file, run, records);
  EXPECT_EQ(read_file(file),
            "# from an earlier command\n\n" + summary_markdown(run, Outcomes(records)));
}

TEST(GithubReport, CountsARetryAsOneTrial) {
  std::vector<Record> records(2, wrong(1, Status::fail, "bad"));
  records[1] = sample_record(1);
  records[1].attempt = 2;
  RunInfo run = sample_run(1, 0);
  run.allow_flaky = true;
  EXPECT_TRUE(printed("", run, records).starts_with("::warning title=flaky%3A"));
}

TEST(GithubReport, CutsASummaryThatIsTooLongAtALineEnd) {
  const TemporaryDirectory directory;
  const auto file = directory / "summary";
  std::vector<Record> records;
  records.push_back(wrong(1, Status::fail, "bad"));
  const RunInfo run = run_in_out(1, 1);
  const std::string whole = summary_markdown(run, Outcomes(records));
  constexpr std::size_t limit = 1024 * 1024 - 1024;

  const std::string before(limit - 300, '-');
  write_file(file, before);
  EXPECT_PRED_FORMAT2(IsSubstring, "::error title=fail", printed(file, run, records));
  const std::string text = read_file(file);
  EXPECT_LE(text.size(), limit);
  const std::string note =
      "\nThe rest is too long for GitHub; the whole summary is in `out/summary.md`.\n";
  ASSERT_TRUE(text.ends_with(note)) << text.substr(before.size());
  const std::string kept =
      text.substr(before.size() + 2, text.size() - before.size() - 2 - note.size());
  EXPECT_TRUE(whole.starts_with(kept) && kept.ends_with("\n") && kept.size() > 100) << kept;
}

TEST(GithubReport, WarnsOfASummaryThatCannotBeWritten) {
  const TemporaryDirectory directory;
  const RunInfo run = run_in_out(1, 0);
  const std::vector<Record> records{sample_record(1)};
  const std::string absent = (directory / "no").string() + "/summary";
  EXPECT_EQ(printed(absent, run, records), "::warning title=assay::no job summary: cannot open '" +
                                               absent + "': No such file or directory\n");
  EXPECT_EQ(printed("/dev/full", run, records),
            "::warning title=assay::no job summary: cannot write to '/dev/full': "
            "No space left on device\n");
  const auto full = directory / "full";
  write_file(full, std::string(1 << 20, '-'));
  EXPECT_EQ(printed(full, run, records),
            "::warning title=assay::no job summary: '" + full.string() +
                "' holds 1048576 bytes, and GitHub takes 1 MiB in all\n");
  EXPECT_EQ(std::filesystem::file_size(full), 1U << 20U);
}

TEST(GithubReport, IsThereOnlyInAJobOfGithub) {
  const Outcomes outcomes(std::vector{sample_record(1)});
  for (const std::optional<std::string>& value : {std::optional<std::string>("false"), {}}) {
    const ScopedVariable elsewhere("GITHUB_ACTIONS", value);
    EXPECT_EQ(github_report_if_there(outcomes), nullptr);
  }

  const TemporaryDirectory directory;
  const ScopedVariable in_a_job("GITHUB_ACTIONS", "true");
  {
    const ScopedVariable summary("GITHUB_STEP_SUMMARY", directory / "summary");
    const auto report = github_report_if_there(outcomes);
    ASSERT_NE(report, nullptr);
    report->end(sample_run(1, 0));
    EXPECT_PRED_FORMAT2(IsSubstring, "PASSED", read_file(directory / "summary"));
  }
  const ScopedVariable no_summary("GITHUB_STEP_SUMMARY", std::nullopt);
  const auto without_summary = github_report_if_there(outcomes);
  ASSERT_NE(without_summary, nullptr);
  without_summary->end(sample_run(1, 0));
}

}  // namespace
}  // namespace assay
