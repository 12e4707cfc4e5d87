#include "reports/files/run_start.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/core/status.h"
#include "reports/files/plan_csv.h"
#include "reports/files/run_directory.h"
#include "reports/files/sinks.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

/// Writes all files that a run's directory has before its first result.
void begin_run(const fs::path& directory) {
  write_plan(directory / "plan.csv", {{"copy/f32/n=1", "cpu", "batch", 1, ""}});
  const Outcomes outcomes;
  RunInfo run = sample_run(1, 0);
  run.devices.emplace_back();
  for (const auto& sink : run_directory_sinks(directory, outcomes, Start::fresh)) sink->begin(run);
}

TEST(RunStart, IsEveryFileOfARunBeforeItsFirstResultAndEveryBeginningOfOne) {
  const TemporaryDirectory whole;
  begin_run(whole.path());
  ASSERT_TRUE(is_run_start(whole.path()));
  const TemporaryDirectory folder;
  EXPECT_FALSE(is_run_start(folder.path())) << "nothing is none";
  fs::create_directories(folder / "run");
  for (const std::string_view name : run_file_names()) {
    if (!fs::exists(whole.path() / name)) continue;  // limits.csv
    const std::string text = read_file(whole.path() / name);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size()}) {
      for (const std::string suffix : {".part", ""}) {
        write_file(folder / "run" / (std::string(name) + suffix), text.substr(0, size));
        EXPECT_TRUE(is_run_start(folder / "run")) << name << suffix << ' ' << size;
      }
      fs::remove(folder / "run" / (std::string(name) + ".part"));
    }
  }
  remove_run_start(folder / "run");
  EXPECT_TRUE(fs::is_empty(folder / "run"));
}

TEST(RunStart, HasNoResult) {
  const TemporaryDirectory directory;
  begin_run(directory.path());
  const fs::path results = directory / "results.csv";
  const std::string header = read_file(results);
  write_file(results, header + "1,torn");
  EXPECT_TRUE(is_run_start(directory.path()));
  const auto fields = std::ranges::count(header, ',') + 1;
  const std::string row = "1" + std::string(static_cast<std::size_t>(fields) - 1, ',') + "\n";
  for (const std::string& text :
       {header + row, header + "\"" + row + row, "\"" + header.substr(1) + row, "mine" + header}) {
    write_file(results, text);
    EXPECT_FALSE(is_run_start(directory.path())) << text.substr(header.size());
  }
}

TEST(RunStart, HasNothingThatAssayDidNotWrite) {
  const TemporaryDirectory directory;
  begin_run(directory.path());
  for (const std::string name : {"notes.txt", "junit.xml.bak", ".part", "run.json.part.part"}) {
    write_file(directory / name, "");
    EXPECT_FALSE(is_run_start(directory.path())) << name;
    fs::remove(directory / name);
  }
  for (const std::string name :
       {"plan.csv", "summary.md", "run.json", "junit.xml", "metrics.prom"}) {
    const std::string text = read_file(directory / name);
    write_file(directory / name, "somebody's");
    EXPECT_FALSE(is_run_start(directory.path())) << name;
    write_file(directory / name, text);
  }
  fs::rename(directory / "plan.csv", directory / "elsewhere");
  EXPECT_FALSE(is_run_start(directory.path()));
  fs::rename(directory / "elsewhere", directory / "plan.csv");
  const TemporaryDirectory kept;  // the report of another run
  fs::copy_file(directory / "junit.xml", kept / "junit.xml");
  EXPECT_FALSE(is_run_start(kept.path()));
  fs::rename(directory / "summary.md", kept / "summary.md");
  fs::create_symlink(kept / "summary.md", directory / "summary.md");
  EXPECT_FALSE(is_run_start(directory.path()));
}

TEST(ClaimedRunDirectory, TakesTheStartOfARunOverButNoneThatGoesOn) {
  const TemporaryDirectory directory;
  bool took_over = true;
  {
    const RunDirectoryLock own = claim_run_directory(directory / "a/b", took_over);
    EXPECT_FALSE(took_over);
    begin_run(directory / "a/b");
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "being written by another run",
        message_of<UsageError>([&] { claim_run_directory(directory / "a/b", took_over); }));
    EXPECT_TRUE(fs::exists(directory / "a/b/run.json"));
  }
  const RunDirectoryLock lock = claim_run_directory(directory / "a/b", took_over);
  EXPECT_TRUE(took_over);
  EXPECT_TRUE(fs::is_empty(directory / "a/b"));
}

TEST(ClaimedRunDirectory, LeavesEverythingElseAsItIs) {
  const TemporaryDirectory directory;
  begin_run(directory.path());
  write_file(directory / "notes.txt", "precious");
  bool took_over = false;
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is not empty", message_of<UsageError>([&] {
                        claim_run_directory(directory.path(), took_over);
                      }));
  EXPECT_EQ(read_file(directory / "notes.txt"), "precious");
  EXPECT_TRUE(fs::exists(directory / "run.json"));
}

}  // namespace
}  // namespace assay
