#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace emulator {
namespace {

const std::string tool = EMULATOR_TOOL;
const std::string program = EMULATOR_PROGRAM "_plain";
const std::string linked = EMULATOR_PROGRAM "_static";
const std::string compressed = EMULATOR_PROGRAM "_compressed";
const std::string without_ptx = EMULATOR_PROGRAM "_sass";

struct Outcome {
  int code;
  std::string text;  // stdout and stderr
};

Outcome run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t bytes = 0; (bytes = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, bytes);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

void expect(const std::string& command, int code, const std::string& text) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.text;
  EXPECT_NE(outcome.text.find(text), std::string::npos) << command << "\n" << outcome.text;
}

TEST(Tool, RunsAProgramThatIsLinkedWithTheSharedRuntime) {
  const Outcome outcome = run(tool + " " + program);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "1998\n");
}

// 0 + 10 + 100, 2 and 5; then 2000 and 7.
TEST(Tool, LinksTheFilesOfAProgram) {
  const std::string linked_files = EMULATOR_PROGRAM "_linked";
  const Outcome outcome = run(tool + " " + linked_files);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "2124\n");
  expect(tool + " " + linked_files + " beyond", 86, "linked_other.cu:7");
}

TEST(Tool, TakesTheNamedGpus) {
  expect(tool + " --like a100 " + program + " properties", 0, "A100");
  expect(tool + " --like nothing " + program + " properties", 134, "nothing");
}

TEST(Tool, EndsWithACodeOfItsOwnAfterReports) {
  const Outcome outcome = run(tool + " " + program + " race");
  EXPECT_EQ(outcome.code, 86) << outcome.text;
  EXPECT_NE(outcome.text.find("program.cu:1"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("error: cudaErrorLaunchFailure"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("emulate-gpu: reports: 1 of racecheck"), std::string::npos)
      << outcome.text;
  expect(tool + " --error-exitcode 5 " + program + " race", 5, "reports: 1 of racecheck");
  expect(tool + " --error-exitcode 0 " + program + " race", 1, "cudaErrorLaunchFailure");
}

TEST(Tool, GoesOnAfterReports) {
  const Outcome outcome = run(tool + " --reports all " + program + " race");
  EXPECT_EQ(outcome.code, 86) << outcome.text;
  EXPECT_NE(outcome.text.find("1998\n"), std::string::npos) << outcome.text;
}

TEST(Tool, LooksForTheNamedChecks) {
  expect(tool + " --memcheck --initcheck " + program + " race", 0, "1998");
  expect(tool + " --racecheck " + program + " race", 86, "1 of racecheck");
}

TEST(Tool, LeavesOutSuppressedKernels) {
  expect(tool + " --suppress 'racecheck rev*' " + program + " race", 0, "1998");
  const auto path = std::filesystem::temp_directory_path() / ("rules" + std::to_string(getpid()));
  std::ofstream(path) << "# ours\nracecheck reverse\n";
  expect(tool + " --suppressions " + path.string() + " " + program + " race", 0, "1998");
  std::filesystem::remove(path);
  expect(tool + " --suppress 'racecheck other' " + program + " race", 86, "fitted nothing");
}

TEST(Tool, WritesReportsToAFile) {
  const auto path = std::filesystem::temp_directory_path() / ("json" + std::to_string(getpid()));
  std::ofstream(path) << "of yesterday\n";
  expect(tool + " --json " + path.string() + " " + program + " race", 86, "1 of racecheck");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(
      text.starts_with(R"x({"check":"racecheck","kind":"race","kernel":"reverse(float*)")x"))
      << text;
  std::filesystem::remove(path);
}

TEST(Tool, KeepsTheProgramsCode) {
  expect(tool + " " + program + " three", 3, "1998");
  expect(tool + " " + program + " crash", 134, "");
  expect(tool + " /nowhere/program", 127, "cannot be started");
}

TEST(Tool, DoesNotCallAnUnusedGpuRight) {
  expect(tool + " " + program + " nothing", 87, "used no emulated GPU");
  expect(tool + " --allow-unused " + program + " nothing", 0, "");
}

TEST(Tool, SaysHowToBuildOtherPrograms) {
  expect(tool + " " + linked, 86, "nvcc -cudart shared");
  // Also where the program looks at no error.
  for (const auto& each : {compressed, without_ptx}) {
    const Outcome outcome = run(tool + " " + each + " ignore");
    EXPECT_EQ(outcome.code, 86) << outcome.text;
    EXPECT_NE(outcome.text.find("--no-compress"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("reports: 1 of emulator"), std::string::npos) << outcome.text;
  }
}

TEST(Tool, HelpsAndRefuses) {
  expect(tool + " --help", 0, "nvcc -cudart shared --no-compress -lineinfo");
  expect(tool, 2, "command");
  expect(tool + " --no-such-option " + program, 2, "no-such-option");
  expect(tool + " --reports none " + program, 134, "ASSAY_EMULATOR_REPORTS");
}

TEST(Tool, PassesTheCommandsOwnOptionsOn) {
  expect(tool + " --gpus 1 sh -c 'echo \"$ASSAY_EMULATED_GPUS $1\"' sh --help", 87, "1 --help");
}

/// The bugs of a source, each with the lines that are marked with its name: those after the mark.
std::map<std::string, std::set<int>> bugs_of(const std::string& path) {
  std::map<std::string, std::set<int>> bugs;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    static const std::regex mark("BUG (\\w+)");
    if (line.find("//") == std::string::npos || line.find('`') != std::string::npos) continue;
    for (std::sregex_iterator found(line.begin(), line.end(), mark), end; found != end; ++found)
      bugs[(*found)[1]].insert(number + 1);
  }
  return bugs;
}

void expect_bugs_found(const std::string& name, std::size_t least) {
  const auto bugs = bugs_of(EMULATOR_PLANTED "/" + name + ".cu");
  EXPECT_GE(bugs.size(), least);
  for (const auto& [bug, lines] : bugs) {
    for (const int seed : {1, 2}) {
      const Outcome outcome = run(tool + " --like h100 --seed " + std::to_string(seed) + " " +
                                  EMULATOR_PROGRAM "_" + name + " " + bug);
      EXPECT_EQ(outcome.code, 86) << bug << "\n" << outcome.text;
      const bool is_named = std::ranges::any_of(lines, [&](int line) {
        const std::regex place(name + "\\.cu:" + std::to_string(line) + "\\b");
        return std::regex_search(outcome.text, place);
      });
      EXPECT_TRUE(is_named) << bug << "\n" << outcome.text;
    }
  }
}

TEST(Tool, NamesTheLineOfEachPlantedBug) { expect_bugs_found("planted", 29); }

TEST(Tool, NamesTheLineOfEachBugOfWarpgroups) { expect_bugs_found("warpgroups", 4); }

TEST(Tool, MultipliesMatricesByWarpgroups) {
  expect(tool + " --like h100 " EMULATOR_PROGRAM "_warpgroups", 0, "right");
  // No other GPU takes its PTX.
  expect(tool + " --like b200 " EMULATOR_PROGRAM "_warpgroups", 1, "wrong");
}

}  // namespace
}  // namespace emulator
