#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/tests/emulated_process.h"
#include "emulator/tests/programs/programs.h"

namespace emulator {
namespace {

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

/// What the program with findings wrote to stderr.
std::string errors_with(const Environment& environment, cudaError_t expected) {
  return on_gpus(
      1, [&] { EXPECT_EQ(programs::run_with_findings(), expected); }, environment);
}

TEST(Reports, TheFirstEndsTheProgramsUseOfTheGpu) {
  const std::string errors = errors_with({}, cudaErrorLaunchFailure);
  EXPECT_EQ(count_of(errors, "emulator: kernel "), 1) << errors;
  EXPECT_EQ(count_of(errors, "findings.cu:17, ") + count_of(errors, "findings.cu:16, "), 1)
      << errors;
}

/// Each line of PTX is told once.
void expect_no_repeats(const std::string& errors) {
  for (std::size_t at = 0; (at = errors.find("embedded PTX:", at)) != errors.npos; ++at) {
    const std::string line = errors.substr(at, errors.find(' ', at + 13) - at + 1);
    EXPECT_EQ(count_of(errors, line), 1) << line << errors;
  }
}

TEST(Reports, AllOfARunOnceForEachLine) {
  const std::string errors = errors_with({{"ASSAY_EMULATOR_REPORTS", "all"}}, cudaSuccess);
  expect_no_repeats(errors);
  for (const char* line : {":17, ", ":21, ", ":24, ", ":26, ", ":30, "})
    EXPECT_NE(errors.find(std::string("findings.cu") + line), std::string::npos) << line << errors;
  EXPECT_EQ(count_of(errors, "findings.cu:27, "), 0) << errors;
  EXPECT_NE(
      errors.find(fmt::format("emulator: {} reports, and ", count_of(errors, "emulator: kernel "))),
      std::string::npos)
      << errors;
}

TEST(Reports, AsManyAsAreAskedFor) {
  const std::string errors = errors_with({{"ASSAY_EMULATOR_REPORTS", "3"}}, cudaErrorLaunchFailure);
  EXPECT_EQ(count_of(errors, "emulator: kernel "), 3) << errors;
}

TEST(Reports, OfTheChecksThatAreAskedFor) {
  std::string errors = errors_with(
      {{"ASSAY_EMULATOR_REPORTS", "all"}, {"ASSAY_EMULATOR_CHECKS", "racecheck"}}, cudaSuccess);
  EXPECT_EQ(count_of(errors, "findings.cu:24, "), 0) << errors;
  EXPECT_GT(count_of(errors, "without a barrier between"), 1) << errors;
  EXPECT_EQ(count_of(errors, "findings.cu:30, "), 1) << errors;  // faults are always told
  errors = errors_with({{"ASSAY_EMULATOR_CHECKS", "initcheck,memcheck"}}, cudaErrorLaunchFailure);
  EXPECT_EQ(count_of(errors, "findings.cu:24, "), 1) << errors;
  EXPECT_EQ(count_of(errors, "emulator: kernel "), 1) << errors;
}

TEST(Reports, NotOfKernelsThatAreLeftOut) {
  const std::string errors = errors_with(
      {{"ASSAY_EMULATOR_REPORTS", "all"},
       {"ASSAY_EMULATOR_SUPPRESS", "# known\nracecheck *with_find*  # yes\ninitcheck other"}},
      cudaSuccess);
  EXPECT_EQ(count_of(errors, "emulator: kernel "), 3) << errors;
  EXPECT_NE(errors.find("findings.cu:24, "), std::string::npos) << errors;
  EXPECT_NE(errors.find("the suppression 'initcheck other' fitted nothing"), std::string::npos)
      << errors;
  EXPECT_EQ(count_of(errors, "fitted nothing"), 1) << errors;
}

TEST(Reports, AsLinesOfJson) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("reports-" + std::to_string(getpid()));
  errors_with({{"ASSAY_EMULATOR_REPORTS", "all"}, {"ASSAY_EMULATOR_JSON", path.string()}},
              cudaSuccess);
  std::ifstream file(path);
  std::vector<nlohmann::json> reports;
  for (std::string line; std::getline(file, line);) reports.push_back(nlohmann::json::parse(line));
  std::filesystem::remove(path);
  ASSERT_GE(reports.size(), 4U);
  const nlohmann::json& race = reports.front();
  EXPECT_EQ(race.at("check"), "racecheck");
  EXPECT_EQ(race.at("kind"), "race");
  EXPECT_NE(race.at("kernel").get<std::string>().find("with_findings(int*, int)"),
            std::string::npos);
  EXPECT_EQ(race.at("block"), nlohmann::json({0, 0, 0}));
  EXPECT_EQ(race.at("thread").size(), 3U);
  const int line = race.at("source").at(0).at("line");
  EXPECT_TRUE(line == 16 || line == 17) << line;
  EXPECT_TRUE(race.at("source").at(0).at("file").get<std::string>().ends_with("findings.cu"));
  EXPECT_GT(race.at("ptx").at("line").get<int>(), 0);
  EXPECT_NE(race.at("text").get<std::string>().find("without a barrier between"),
            std::string::npos);
  EXPECT_EQ(reports[reports.size() - 2].at("check"), "initcheck");
  EXPECT_EQ(reports.back().at("kind"), "illegal_address");
}

TEST(Reports, RefuseWhatTheyDoNotUnderstand) {
  for (const Environment& wrong : {Environment{{"ASSAY_EMULATOR_REPORTS", "0"}},
                                   Environment{{"ASSAY_EMULATOR_CHECKS", "race"}},
                                   Environment{{"ASSAY_EMULATOR_SUPPRESS", "racecheck"}},
                                   Environment{{"ASSAY_EMULATOR_JSON", "/nowhere/reports"}}}) {
    const Outcome outcome = run_process(wrong, [] { programs::run_with_findings(); });
    EXPECT_TRUE(WIFSIGNALED(outcome.status)) << wrong.begin()->first;
    EXPECT_NE(outcome.errors.find("emulator: "), std::string::npos) << outcome.errors;
  }
}

}  // namespace
}  // namespace emulator
