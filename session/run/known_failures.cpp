#include "session/run/known_failures.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "reports/files/checksum.h"
#include "reports/files/csv_file.h"
#include "suites/select.h"

namespace assay {

namespace fs = std::filesystem;

ExpectedFailures read_expected(Job& job) {
  if (job.options.expected.empty()) return {};
  RunInfo& run = job.run;
  const bool resumes = job.start == Start::resumed;
  const bool is_standard_input = job.options.expected == "-";
  // Made absolute: a run may be resumed from another directory.
  if (!resumes) {
    run.expected.path = is_standard_input ? job.options.expected
                                          : fs::absolute(job.options.expected).lexically_normal();
  }
  const std::string name = is_standard_input ? "standard input" : job.options.expected.string();
  std::string text;
  try {
    text = is_standard_input ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                             : read_text(run.expected.path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--expected: {}{}", error.what(),
                                 resumes ? ", which the run began with; put it back" : ""));
  }
  const std::string crc32 = crc32_text(text);
  if (resumes && crc32 != run.expected.crc32) {
    throw UsageError(fmt::format(
        "--resume: {} has changed since the run began (CRC-32 {}, now {}): put it back as it was, "
        "or start a new run with the new list",
        is_standard_input ? name : run.expected.path.string(), run.expected.crc32, crc32));
  }
  run.expected.crc32 = crc32;
  std::istringstream stream(text);
  return {stream, name, utc_now().substr(0, 10), job.known_kinds};
}

std::vector<std::string> patterns_without_case(const ExpectedFailures& expected, const Job& job) {
  std::vector<std::string> ids;
  for (const PlannedTrial& trial : job.plan) ids.push_back(trial.test.id());
  for (const Record& record : job.earlier) ids.push_back(record.case_id);
  if (expected.without_case(ids).empty()) return {};
  for (const Profile& profile : all_profiles()) {
    for (const Case& one : select_cases({.profile = std::string(profile.name)})) {
      ids.push_back(one.id());
    }
  }
  return expected.without_case(ids);
}

}  // namespace assay
