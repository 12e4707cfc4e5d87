#include "reports/files/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/fields_text.h"
#include "reports/text/explanation.h"
#include "reports/text/outcomes.h"
#include "reports/text/rate.h"
#include "reports/text/xml_text.h"

namespace assay {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_text(value));
}

/// Seconds as xs:decimal, which has no exponents.
std::string seconds(double value) { return fmt::format("{:.9f}", value); }

/// Duration of the trial, with all its attempts and repeats.
double time_of(const Record& record) {
  const double time = record.wall_s.value_or(0);
  return time > 0 && time < 1e9 ? time : 0;  // NaN and infinity are not decimals either
}

/// Counts of <testsuites> and <testsuite>. Readers that validate, such as the xUnit plugin of
/// Jenkins, allow `skipped` in the latter alone.
struct Counts {
  std::int64_t tests = 0;
  std::int64_t failures = 0;
  std::int64_t errors = 0;
  std::int64_t skipped = 0;

  void add(std::string_view element) {
    ++tests;
    failures += element == "failure" ? 1 : 0;
    errors += element == "error" ? 1 : 0;
    skipped += element == "skipped" ? 1 : 0;
  }
  Counts& operator+=(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    return *this;
  }
  std::string text(double time) const {
    return fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{}\"", tests, failures,
                       errors, seconds(time));
  }
};

std::string test_name(const Record& record) {
  std::string name = record.case_id;
  if (!record.timing.empty()) name += " " + record.timing;
  return name;
}

/// Names the child of a test case that holds its result; empty if it may pass. A known failure is
/// `skipped`: the format has no better word for a failure that does not turn the run red.
std::string_view element_of(const RunInfo& run, const Record& record) {
  if (!record.expected_failure.empty()) return "skipped";
  if (record.status == Status::flaky && run.allow_flaky) return {};
  switch (class_of(record.status)) {
    case StatusClass::right:
      return {};
    case StatusClass::wrong:
      return "failure";
    case StatusClass::broken:
      return "error";
    case StatusClass::skipped:
      break;
  }
  return "skipped";
}

std::string test_case(const Record& record, std::string_view element) {
  std::string xml = "    <testcase" + attribute("classname", record.suite + "." + record.device) +
                    attribute("name", test_name(record)) +
                    attribute("time", seconds(time_of(record))) + ">\n";
  if (!element.empty()) {
    const std::string message =
        record.expected_failure.empty()
            ? record.reason
            : fmt::format("expected failure ({}): {}: {}", record.expected_failure,
                          name(record.status), record.reason);
    xml += fmt::format("      <{}", element) + attribute("message", message);
    if (element == "skipped") {
      xml += "/>\n";
    } else {
      xml += attribute("type", name(record.status)) + ">" + xml_text(explanation(record)) +
             fmt::format("</{}>\n", element);
    }
  }
  std::string said = record.replay.empty() ? "" : "replay: " + record.replay;
  if (record.status == Status::flaky) said = "flaky: " + record.reason + "\n" + said;
  if (!said.empty()) xml += fmt::format("      <system-out>{}</system-out>\n", xml_text(said));
  return xml + "    </testcase>\n";
}

struct TestSuite {
  std::string name;
  std::string device_name;
  std::string medians;  // property elements
  std::string cases;
  Counts counts;
  double time = 0;
};

std::string property(std::string_view name, std::string_view value) {
  return "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
}

std::string properties(const RunInfo& run, const TestSuite& suite) {
  std::string xml = "    <properties>\n";
  if (!suite.device_name.empty()) xml += property("device", suite.device_name);
  xml += property("seed", to_cell(run.seed)) + property("version", run.version) + suite.medians;
  return xml + "    </properties>\n";
}

void add(std::vector<TestSuite>& suites, const RunInfo& run, const Record& record) {
  const std::string name = record.suite + " on " + record.device;
  auto suite = std::find_if(suites.begin(), suites.end(),
                            [&](const TestSuite& other) { return other.name == name; });
  if (suite == suites.end()) suite = suites.insert(suite, {name, {}, {}, {}, {}, 0});
  if (suite->device_name.empty()) suite->device_name = record.device_name;
  const std::string_view element = element_of(run, record);
  // Readers that validate allow properties in a suite alone.
  if (const std::string median_s = to_cell(shown_time_s(record)); !median_s.empty()) {
    suite->medians += property("time_median_s " + test_name(record), median_s);
  }
  suite->cases += test_case(record, element);
  suite->counts.add(element);
  suite->time += time_of(record);
}

/// Test case for a fault of the whole run: an empty or incomplete run must not look green.
TestSuite whole_run(const RunVerdict& verdict) {
  TestSuite suite{"assay", {}, {}, {}, {}, 0};
  suite.counts.add("error");
  suite.cases = R"(    <testcase classname="assay" name="run" time="0.000000000">)"
                "\n      <error" +
                attribute("message", verdict.why) + attribute("type", verdict.word) +
                "/>\n    </testcase>\n";
  return suite;
}

}  // namespace

std::string junit_xml(const RunInfo& run, const Outcomes& outcomes) {
  std::vector<TestSuite> suites;
  Counts total;
  double time = 0;
  for (const Record& record : outcomes.trials()) add(suites, run, record);
  const RunVerdict shown = run_verdict(run, outcomes.tally());
  if (!shown.passed && !shown.shown_by_a_result) suites.push_back(whole_run(shown));

  std::string body;
  for (const TestSuite& suite : suites) {
    body += "  <testsuite" + attribute("name", suite.name) + suite.counts.text(suite.time) +
            fmt::format(" skipped=\"{}\"", suite.counts.skipped) +
            attribute("timestamp", run.started_at) + attribute("hostname", run.host) + ">\n" +
            properties(run, suite) + suite.cases + "  </testsuite>\n";
    total += suite.counts;
    time += suite.time;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "assay") +
         total.text(time) + ">\n" + body + "</testsuites>\n";
}

}  // namespace assay
