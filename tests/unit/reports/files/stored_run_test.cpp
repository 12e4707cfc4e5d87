#include "reports/files/stored_run.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "reports/files/results_csv.h"
#include "reports/files/run_json.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

/// A run directory with one row, as a run writes it.
fs::path store(const fs::path& directory, const RunInfo& run, bool ended = true) {
  fs::create_directories(directory);
  write_file(directory / "run.json", run_json(run, ended));
  ResultsCsv(directory / "results.csv").result({.record = sample_record(1)});
  return directory;
}

std::string refusal(const fs::path& directory) {
  return message_of<UsageError>([&] { read_stored_run(directory); });
}

TEST(StoredRun, IsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  RunInfo info = sample_run(1, 0);
  info.git_revision = "4f0c";
  info.build_id = "0.1.0 4f0c";
  info.started_at = "2024-02-29T12:34:56.789Z";
  const StoredRun run = read_stored_run(store(folder / "a", info));
  EXPECT_EQ(run.run_id, "r1");
  EXPECT_EQ(run.host, "node7");
  EXPECT_EQ(run.git_revision, "4f0c");
  EXPECT_EQ(run.build_id, "0.1.0 4f0c");
  EXPECT_NEAR(run.started_s, 1709210096.789, 1e-6) << "date -u -d 2024-02-29T12:34:56 +%s";
  EXPECT_TRUE(run.ended());
  ASSERT_EQ(read_stored_results(run).size(), 1U);
}

TEST(StoredRun, OneThatDidNotEndMayHaveATornRowOrNone) {
  const TemporaryDirectory folder;
  const StoredRun run = read_stored_run(store(folder / "a", sample_run(1, 0), false));
  EXPECT_FALSE(run.ended());
  const fs::path results = run.directory / "results.csv";
  const std::string whole = read_file(results);
  write_file(results, whole + "1,\"torn\n");
  EXPECT_EQ(read_stored_results(run).size(), 1U);
  write_file(results, "schema_ver");
  EXPECT_TRUE(read_stored_results(run).empty());
  write_file(results, "schema_ver\"" + whole.substr(11));
  EXPECT_THROW(read_stored_results(run), UsageError) << "a stray quote hides all rows";
  write_file(results, whole + "1,not torn\n");
  EXPECT_THROW(read_stored_results(run), UsageError);
  fs::remove(results);
  EXPECT_THROW(read_stored_results(run), UsageError);

  StoredRun ended = run;
  ended.ended_at = "2024-01-31T12:01:00Z";
  write_file(results, whole + "1,\"torn\n");
  EXPECT_THROW(read_stored_results(ended), UsageError);
}

TEST(StoredRun, DamageIsNamed) {
  const TemporaryDirectory folder;
  EXPECT_NE(refusal(folder.path()).find("run.json: cannot be read"), std::string::npos);
  RunInfo run = sample_run(1, 0);
  for (const char* time : {"", "yesterday", "2024-01-31T12:00:00", "2024-01-31 12:00:00Z",
                           "2024-02-30T12:00:00Z", "2024-01-31T24:00:00Z", "2024-01-31T12:00:61Z",
                           "2024-01-31T12:00:00nanZ", "2024-01-31T12:00:0+1Z", "Z"}) {
    run.started_at = time;
    store(folder / "a", run);
    EXPECT_NE(refusal(folder / "a").find("run.json: started_at: "), std::string::npos) << time;
    fs::remove_all(folder / "a");
  }
  write_file(folder / "run.json", "[1, 2]");
  EXPECT_NE(refusal(folder.path()).find("run.json: "), std::string::npos);
  write_file(folder / "run.json", R"({"run_id": 7})");
  EXPECT_NE(refusal(folder.path()).find("'run_id' must be text"), std::string::npos);
}

TEST(StoredRun, DamagedJsonIsSaidInPlainWords) {
  const TemporaryDirectory folder;
  const std::string whole = run_json(sample_run(1, 0), true);
  const auto refused = [&](const std::string& text) {
    write_file(folder / "run.json", text);
    const std::string message = refusal(folder.path());
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
    return message.substr(message.find("run.json"));
  };
  EXPECT_EQ(refused(whole.substr(0, 90)), "run.json: the JSON is cut off: its end is missing");
  EXPECT_EQ(refused(std::string(60'000, '[')),
            "run.json: nested more than 64 deep, which no file of assay is");
  std::string text = whole;
  EXPECT_EQ(refused(text.replace(text.find("\"planned\": 1"), 12, "\"planned\": []")),
            "run.json: 'planned': not a whole number from -9223372036854775808 to "
            "9223372036854775807");
}

TEST(StoredRun, ItsSessionsReadBackAndAddUp) {
  const TemporaryDirectory folder;
  RunInfo info = sample_run(1, 0);
  info.sessions = {{.started_at = "2026-01-01T10:00:00Z",
                    .ended_at = "2026-01-01T10:00:05Z",
                    .command_line = {"assay", "run"},
                    .interrupted = true,
                    .exit_code = 4,
                    .wall_s = 5,
                    .taken = 3},
                   {.started_at = "2026-01-01T11:00:00Z", .command_line = {"assay", "--resume"}}};
  info.wall_s = 5;
  info.taken = 3;
  info.phases.sampling = 4;
  info.references_shared = 2;
  for (const bool ended : {false, true}) {  // times of the first while the second runs
    const StoredRun run = read_stored_run(store(folder / (ended ? "a" : "b"), info, ended));
    ASSERT_EQ(run.sessions.size(), 2U);
    EXPECT_EQ(run.sessions[0].exit_code, 4);
    EXPECT_TRUE(run.sessions[0].interrupted);
    EXPECT_EQ(run.sessions[0].wall_s, 5);
    EXPECT_EQ(run.sessions[0].taken, 3);
    EXPECT_FALSE(run.sessions[1].ended());
    EXPECT_EQ(run.sessions[1].command_line[1], "--resume");
    EXPECT_EQ(run.wall_s, 5);
    EXPECT_EQ(run.taken, 3);
    EXPECT_EQ(run.phases.sampling, 4);
    EXPECT_EQ(run.references_shared, 2);
  }
}

TEST(StoredRun, DirectoriesAreFoundOnceAndNotDeeper) {
  const TemporaryDirectory folder;
  store(folder / "runs/b", sample_run(1, 0));
  store(folder / "runs/a", sample_run(1, 0));
  store(folder / "runs/deep/c", sample_run(1, 0));
  fs::create_directories(folder / "runs/notes");
  fs::remove(folder / "runs/b/run.json");  // a damaged run is not passed over
  const std::vector<fs::path> paths{folder / "runs/a", folder / "runs", folder / "runs/./a/"};
  EXPECT_EQ(find_run_directories(paths),
            (std::vector<fs::path>{folder / "runs/a", folder / "runs/b"}));
  for (const char* none : {"runs/notes", "nowhere", ""}) {
    const std::vector<fs::path> wrong{folder / "runs/a", folder / none};
    EXPECT_THROW(find_run_directories(wrong), UsageError) << none;
  }
}

}  // namespace
}  // namespace assay
