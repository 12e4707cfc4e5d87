// Runs the trials of a selection as GoogleTests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/adapters/library_flags.h"
#include "cli/adapters/names.h"
#include "cli/program.h"
#include "cli/run_flags.h"
#include "cli/selection_flags.h"
#include "harness/records/fields_text.h"
#include "harness/records/printable.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/text/explanation.h"
#include "session/console/stderr_message.h"
#include "session/process/interrupt.h"
#include "session/run/run_options.h"
#include "session/run/trial_by_trial.h"

namespace assay::cli {
namespace {

constexpr const char* description =
    "Assay's cases as GoogleTests: verifies each selected case on each selected device, a test "
    "each.\nTakes GoogleTest's flags too: docs/adapters.md.";

constexpr const char* examples = R"(Examples:
  assay_gtest                                          the smoke profile on the CPU and every GPU
  assay_gtest --gtest_list_tests --device cuda         LANE.CASE: cuda0.linear/f32/batch=64,...
  assay_gtest --gtest_filter='cuda0.linear/*'          by device and case
  assay_gtest --profile default --require cuda --gtest_output=xml:assay.xml
  GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=0 assay_gtest --wait    a part of them, for ctest or Bazel

Exit codes: 0 all right, 1 a wrong result, 2 a usage error, 3 no such device or nothing ran,
4 a crash, a time-out or another failure of the machinery.)";

/// Columns of results.csv that become properties of a test. Others name the run, or are in the
/// message.
constexpr std::array columns{"case_id",        "device",         "device_name",
                             "device_uuid",    "ranks",          "transport",
                             "implementation", "seed",           "repeat",
                             "oracle",         "elements",       "mismatches",
                             "max_ulp",        "max_abs_error",  "max_bound_ratio",
                             "worst_ratio",    "effective_bits", "misrounded_fraction",
                             "repeatable",     "reason",         "replay",
                             "caught_by",      "caught_on"};

void record_properties(const Record& record) {
  // "status" is an attribute of the library itself.
  testing::Test::RecordProperty("verdict", std::string(name(record.status)));
  visit_fields(record, [](std::string_view column, const auto& value) {
    const std::string cell = to_cell(value);
    if (cell.empty() || std::ranges::find(columns, column) == columns.end()) return;
    testing::Test::RecordProperty(std::string(column), cell);
  });
}

class TrialTest final : public testing::Test {
 public:
  TrialTest(TrialByTrial& session, std::size_t i) : session_(session), i_(i) {}

  void TestBody() override {
    if (interrupted()) GTEST_SKIP() << "not begun: interrupted";
    const auto record = session_.take(i_);
    if (!record) FAIL() << fmt::format("interrupted by signal {}", interrupting_signal());
    record_properties(*record);
    switch (class_of(record->status)) {
      case StatusClass::right:
        return;
      case StatusClass::skipped:
        GTEST_SKIP() << printable(record->reason);
      case StatusClass::wrong:
      case StatusClass::broken:
        FAIL() << fmt::format("{}: {}", name(record->status), explanation(*record));
    }
  }

 private:
  TrialByTrial& session_;
  std::size_t i_;
};

/// Ends --gtest_repeat=-1, which would otherwise skip everything for ever.
class EndWhenInterrupted final : public testing::EmptyTestEventListener {
 public:
  explicit EndWhenInterrupted(const TrialByTrial& session) : session_(session) {}
  void OnTestIterationStart(const testing::UnitTest& /*unit_test*/, int /*iteration*/) override {
    if (interrupted()) std::exit(end_of(session_, false));
  }

 private:
  const TrialByTrial& session_;
};

void register_tests(TrialByTrial& session) {
  for (std::size_t i = 0; i < session.plan().size(); ++i) {
    const PlannedTrial& trial = session.plan()[i];
    const std::string name =
        to_gtest_name({.case_id = trial.test.id(), .lane = lane_text(trial), .timing = ""});
    const std::size_t dot = name.find('.');
    testing::RegisterTest(name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr,
                          nullptr, __FILE__, __LINE__,
                          [&session, i]() -> testing::Test* { return new TrialTest(session, i); });
  }
}

/// Throws for mistakes on which GoogleTest would exit with the code of a wrong result.
Part check_sharding() {
  const auto read = [](const char* name) -> std::optional<int> {
    const char* text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    int value = -1;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end || value < 0) {
      throw UsageError(fmt::format("{} must be a whole number, not '{}'", name, text));
    }
    return value;
  };
  const auto index = read("GTEST_SHARD_INDEX");
  const auto total = read("GTEST_TOTAL_SHARDS");
  if (!index && !total) return Part::whole;
  if (!index || !total || *index >= *total) {
    throw UsageError(
        "GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS: set both, with the index below the total");
  }
  return *total > 1 ? Part::shard : Part::whole;
}

/// Target and format of a report.
struct Report {
  std::string format;
  std::filesystem::path file;  // empty if there is none, or the library chooses its name
};

/// Throws for a format that the library passes over, by flag or GTEST_OUTPUT, and for a file that
/// cannot be written.
Report check_output() {
  const std::string output = GTEST_FLAG_GET(output);
  if (output.empty()) return {};
  const std::vector<std::string> parts = split(output, ':');
  if (parts.front() != "xml" && parts.front() != "json") {
    throw UsageError(
        fmt::format("--gtest_output must be xml[:PATH] or json[:PATH], not '{}'", output));
  }
  const std::filesystem::path file = output.substr(std::min(output.size(), parts[0].size() + 1));
  if (!file.has_filename()) return {};  // a folder, in which the library chooses a name
  std::error_code ignored;              // the next line reports it
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  check_writable("--gtest_output", file);
  return {parts.front(), file};
}

int run(int argc, char** argv) {
  RunOptions options;
  options.selection.cases.profile = "smoke";  // tests are run often
  options.selection.check_only = true;
  CLI::App program(description, "assay_gtest");
  const SplitCommandLine words = split_command_line({argv + 1, argv + argc}, "--gtest_");
  program.footer(examples);
  program.allow_extras();
  add_version(program);
  add_selection_options(program, options.selection);
  add_trial_options(program, options);

  if (const auto code = parse(program, words.assay)) return *code;
  refuse_extras(program, program.get_name());
  for (const std::string& word : words.library) {
    // A file that is not there would be an abort, and a flag in it that is none no error.
    if (word.starts_with("--gtest_flagfile")) throw UsageError("--gtest_flagfile is not supported");
  }
  initialize_library("GoogleTest", argv[0], words.library,
                     [](int* count, char** flags) { testing::InitGoogleTest(count, flags); });
  const Report report = check_output();

  TrialByTrial session(std::move(options), check_sharding());
  register_tests(session);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  session.begin();
  testing::UnitTest::GetInstance()->listeners().Append(new EndWhenInterrupted(session));
  const bool is_content = RUN_ALL_TESTS() == 0;
  const int code = end_of(session, is_content);
  if (report.file.empty() || is_whole(report.format, report.file)) return code;
  say("assay_gtest: {} is incomplete: is the disk full?\n", report.file.string());
  return code == wrong ? wrong : infrastructure;
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  return assay::cli::run_program("assay_gtest", [&] { return assay::cli::run(argc, argv); });
}
