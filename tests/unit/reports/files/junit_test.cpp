#include "reports/files/junit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::IsSubstring;

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; ++count) {
    at = text.find(part, at + part.size());
  }
  return count;
}

/// Returns the objections of xmllint, or "".
std::string schema_fault(const std::string& xml) {
  const TemporaryDirectory directory;
  write_file(directory / "junit.xml", xml);
  const std::string command = fmt::format(
      "xmllint --noout --schema '{}/tests/junit.xsd' '{}' > '{}' 2>&1", ASSAY_SOURCE_DIR,
      (directory / "junit.xml").string(), (directory / "said").string());
  return std::system(command.c_str()) == 0 ? "" : read_file(directory / "said");
}

TEST(Junit, IsExactlyThisForOnePassAndOneFailure) {
  std::vector<Record> records{sample_record(1), sample_record(2, Status::fail)};
  records[0].time_median_s = 0.0336;
  records[0].wall_s = 28.25;
  records[1].wall_s = 0.5;
  records[1].device_name = "A \"CPU\"";
  records[1].reason = "3 of 4 elements wrong";
  records[1].mismatches = 3;
  records[1].worst_index = 2;
  records[1].worst_expected = "1";
  records[1].worst_actual = "<2>";
  records[1].worst_allowed = 0;
  EXPECT_EQ(junit_xml(sample_run(2, 1), Outcomes(records)),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="assay" tests="2" failures="1" errors="0" time="28.750000000">
  <testsuite name="copy on cpu" tests="2" failures="1" errors="0" time="28.750000000" skipped="0" timestamp="2024-01-31T12:00:00Z" hostname="node7">
    <properties>
      <property name="device" value="A &quot;CPU&quot;"/>
      <property name="seed" value="1"/>
      <property name="version" value="1.0.0"/>
      <property name="time_median_s copy/f32/n=1 batch" value="0.0336"/>
    </properties>
    <testcase classname="copy.cpu" name="copy/f32/n=1 batch" time="28.250000000">
      <system-out>replay: assay run --case copy/f32/n=1 --device cpu</system-out>
    </testcase>
    <testcase classname="copy.cpu" name="copy/f32/n=2 batch" time="0.500000000">
      <failure message="3 of 4 elements wrong" type="fail">3 of 4 elements wrong&#10;mismatches: 3&#10;allowed: none (exact)&#10;worst index: 2&#10;expected: 1&#10;actual: &lt;2&gt;&#10;replay: assay run --case copy/f32/n=2 --device cpu</failure>
      <system-out>replay: assay run --case copy/f32/n=2 --device cpu</system-out>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, GivesEachStatusItsElement) {
  std::vector<Record> records;
  for (const Status status : all_statuses()) {
    records.push_back(sample_record(static_cast<int>(records.size()), status));
  }
  const std::string xml = junit_xml(sample_run(10, 1), Outcomes(records));
  EXPECT_EQ(schema_fault(xml), "");
  EXPECT_EQ(occurrences(xml, "<testcase "), 10U);
  for (const std::string status : {"fail", "flaky", "vacuous"}) {
    EXPECT_PRED_FORMAT2(IsSubstring, "<failure message=\"\" type=\"" + status + "\">", xml);
  }
  for (const std::string status : {"timeout", "crash", "oom", "device_lost", "error"}) {
    EXPECT_PRED_FORMAT2(IsSubstring, "<error message=\"\" type=\"" + status + "\">", xml);
  }
  EXPECT_EQ(occurrences(xml, "<failure "), 3U);
  EXPECT_EQ(occurrences(xml, "<error "), 5U);
  EXPECT_EQ(occurrences(xml, "<skipped "), 1U);
  EXPECT_EQ(occurrences(xml, R"(tests="10" failures="3" errors="5")"), 2U);
  EXPECT_EQ(occurrences(xml, R"( skipped="1")"), 1U) << "the schema has it in <testsuite> alone";
}

TEST(Junit, HasOneTestSuiteForEachSuiteAndDevice) {
  std::vector<Record> records{sample_record(1), sample_record(2), sample_record(3)};
  records[1].device = "cuda:0>cuda:1";
  records[2].timing = "cold";
  const std::string xml = junit_xml(sample_run(3, 0), Outcomes(records));
  EXPECT_EQ(xml_fault(xml), "");
  EXPECT_PRED_FORMAT2(IsSubstring, R"(<testsuite name="copy on cpu" tests="2")", xml);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(<testsuite name="copy on cuda:0&gt;cuda:1" tests="1")", xml);
}

TEST(Junit, TellsTimingsApart) {
  std::vector<Record> records(2, sample_record(1));
  records[1].timing = "";
  const std::string xml = junit_xml(sample_run(3, 0), Outcomes(records));
  EXPECT_EQ(occurrences(xml, R"(name="copy/f32/n=1 batch")"), 1U);
  EXPECT_EQ(occurrences(xml, R"(name="copy/f32/n=1")"), 1U);
}

TEST(Junit, AKnownFailureIsSkippedAndSaysWhy) {
  Record known = sample_record(1, Status::fail);
  known.reason = "3 of 4 wrong";
  known.expected_failure = "bug 7 (someone, until 2030-01-01)";
  const std::string xml =
      junit_xml(sample_run(2, 0), Outcomes(std::vector{known, sample_record(2)}));
  EXPECT_PRED_FORMAT2(IsSubstring,
                      R"(tests="2" failures="0" errors="0" time="0.000000000" skipped="1")", xml);
  EXPECT_PRED_FORMAT2(
      IsSubstring, "expected failure (bug 7 (someone, until 2030-01-01)): fail: 3 of 4 wrong", xml);
}

TEST(Junit, AnAllowedFlakyResultPassesAndSaysSo) {
  Record flaky = sample_record(1, Status::flaky);
  flaky.reason = "attempt 1: crash";
  RunInfo run = sample_run(1, 0);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(failures="1")", junit_xml(run, Outcomes(std::vector{flaky})));
  run.allow_flaky = true;
  const std::string xml = junit_xml(run, Outcomes(std::vector{flaky}));
  EXPECT_PRED_FORMAT2(IsSubstring, R"(failures="0")", xml);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(<system-out>flaky: attempt 1: crash&#10;replay: )", xml);
}

TEST(Junit, StaysWellFormedWhateverTheReasonHolds) {
  Record record = sample_record(1, Status::crash);
  record.reason = std::string("<&\"'>]]>\x01\x00\xFF\n", 12);
  record.time_median_s = std::numeric_limits<double>::quiet_NaN();
  record.wall_s = std::numeric_limits<double>::infinity();
  const std::string xml = junit_xml(sample_run(1, 4), Outcomes(std::vector{record}));
  EXPECT_EQ(schema_fault(xml), "");
  EXPECT_PRED_FORMAT2(IsSubstring, R"(message="&lt;&amp;&quot;'&gt;]]&gt;���&#10;")", xml);
  EXPECT_EQ(xml.find("nan"), std::string::npos);
  EXPECT_EQ(xml.find("inf"), std::string::npos);
}

TEST(Junit, TheTimeOfATrialIsThatOfAllItsAttemptsAndRepeats) {
  std::vector<Record> records(3, sample_record(1, Status::crash));
  records[1].attempt = 2;
  records[1].status = Status::pass;
  records[2].repeat = 2;
  records[2].status = Status::pass;
  for (Record& record : records) record.wall_s = 1.5;
  EXPECT_PRED_FORMAT2(IsSubstring, R"(name="copy/f32/n=1 batch" time="4.500000000")",
                      junit_xml(sample_run(2, 1), Outcomes(records)));
}

TEST(Junit, AnEmptyRunIsValidAndNotGreen) {
  const std::string xml = junit_xml(sample_run(0, 3), Outcomes());
  EXPECT_EQ(xml_fault(xml), "");
  EXPECT_PRED_FORMAT2(IsSubstring, R"(tests="1" failures="0" errors="1")", xml);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(<error message="nothing ran" type="INCOMPLETE"/>)", xml);
}

TEST(Junit, ARunThatLacksResultsIsNotGreen) {
  const std::string xml = junit_xml(sample_run(5, 0), Outcomes(std::vector{sample_record(1)}));
  EXPECT_EQ(xml_fault(xml), "");
  EXPECT_PRED_FORMAT2(IsSubstring, R"(type="INCOMPLETE")", xml);
  EXPECT_PRED_FORMAT2(IsSubstring, R"(<testsuites name="assay" tests="2" failures="0" errors="1")",
                      xml);
}

}  // namespace
}  // namespace assay
