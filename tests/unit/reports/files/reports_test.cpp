#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "reports/files/results_reader.h"
#include "reports/files/samples_csv.h"
#include "reports/files/sinks.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::IsSubstring;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<CsvRow> read_rows(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return read_csv(stream, path.string());
}

Result sample_result(int n) {
  Result result;
  result.record = sample_record(n);
  result.record.reason = "a, \"b\"\nc";
  result.record.max_ulp = nan;
  result.record.time_median_s = 1.5e-6;
  result.samples.push_back({2e-6, 4, 1.98e9, false});
  result.samples.push_back({3e-6, 4, std::nullopt, std::nullopt});
  return result;
}

void tell(const std::vector<std::unique_ptr<Sink>>& sinks, const Result& result) {
  for (const auto& sink : sinks) sink->result(result);
}

RunInfo run_with_device() {
  RunInfo run = sample_run(1, 0);
  DeviceInfo device;
  device.device = "cpu";
  device.backend = "cpu";
  device.name = "CPU, \"fast\"";
  device.compute_units = 2;
  device.temperature_c = nan;
  run.devices.push_back(device);
  run.environment.emplace_back("OMP_NUM_THREADS", "2");
  run.command_line = {"assay", "run", "--case", "bytes \xFF"};
  return run;
}

TEST(Reports, ResultsCsvHasEveryFieldInOrder) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  const Result result = sample_result(1);
  tell(sinks, result);
  const auto rows = read_rows(directory / "results.csv");
  ASSERT_EQ(rows.size(), 2U) << "the row is there before the run ends";
  EXPECT_EQ(rows[0].fields, field_names<Record>());
  EXPECT_EQ(rows[1].fields, field_cells(result.record));
  const std::string text = read_file(directory / "results.csv");
  EXPECT_TRUE(text.starts_with("schema_version,run_id,started_at,host,suite,case_id,"));
  EXPECT_PRED_FORMAT2(IsSubstring, ",\"a, \"\"b\"\"\nc\",", text);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(Reports, SamplesCsvHasTheKeyAndEverySample) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  tell(sinks, sample_result(1));
  Result untimed = sample_result(2);
  untimed.samples.clear();
  tell(sinks, untimed);
  EXPECT_EQ(read_file(directory / "samples.csv"),
            "case_id,device,timing,attempt,repeat,sample,seconds,launches,clock_hz,throttled,"
            "seconds_forth,seconds_back\n"
            "copy/f32/n=1,cpu,batch,1,1,1,2e-06,4,1980000000,false,,\n"
            "copy/f32/n=1,cpu,batch,1,1,2,3e-06,4,,,,\n");
}

TEST(Reports, DevicesCsvIsWrittenAtTheBeginning) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  const RunInfo run = run_with_device();
  for (const auto& sink : sinks) sink->begin(run);
  const auto rows = read_rows(directory / "devices.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].fields, field_names<DeviceInfo>());
  EXPECT_EQ(rows[1].fields, field_cells(run.devices[0]));
  EXPECT_EQ(rows[1].fields[2], "CPU, \"fast\"");
  EXPECT_TRUE(read_file(directory / "devices.csv").ends_with("\n"));
}

TEST(Reports, RunJsonStandsFromTheBeginningAndIsCompletedAtTheEnd) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  RunInfo run = run_with_device();
  run.exit_code = 4;
  run.interrupted = true;
  run.wall_s = 3;
  run.phases.input = 0.5;
  run.phases.other = 2.5;
  for (const auto& sink : sinks) sink->begin(run);
  auto json = nlohmann::json::parse(read_file(directory / "run.json"));
  EXPECT_TRUE(json.at("ended_at").is_null());
  EXPECT_TRUE(json.at("exit_code").is_null());
  EXPECT_TRUE(json.at("interrupted").is_null());
  EXPECT_TRUE(json.at("wall_s").is_null());
  EXPECT_TRUE(json.at("phases_s").is_null());
  EXPECT_EQ(json.at("run_id"), "r1");
  EXPECT_EQ(json.at("devices"), nlohmann::json({"cpu"}));
  EXPECT_EQ(json.at("environment").at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(json.at("command_line").at(2), "--case");
  for (const auto& sink : sinks) sink->end(run);
  json = nlohmann::json::parse(read_file(directory / "run.json"));
  EXPECT_EQ(json.at("ended_at"), "2024-01-31T12:01:00Z");
  EXPECT_EQ(json.at("exit_code"), 4);
  EXPECT_EQ(json.at("interrupted"), true);
  EXPECT_EQ(json.at("wall_s"), 3);
  EXPECT_EQ(json.at("phases_s").size(), all_phases.size());
  EXPECT_EQ(json.at("phases_s").at("input"), 0.5);
  EXPECT_EQ(json.at("phases_s").at("other"), 2.5);
  EXPECT_EQ(json.at("phases_s").at("sampling"), 0);
}

TEST(Reports, JunitAndSummaryStandFromTheBeginningNotGreenAndTheEndCompletesThem) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  const RunInfo run = run_with_device();
  for (const auto& sink : sinks) sink->begin(run);
  EXPECT_PRED_FORMAT2(IsSubstring, "INCOMPLETE", read_file(directory / "junit.xml"));
  EXPECT_PRED_FORMAT2(IsSubstring, "INCOMPLETE", read_file(directory / "summary.md"));
  outcomes.add(sample_result(1).record);
  tell(sinks, sample_result(1));
  for (const auto& sink : sinks) sink->end(run);
  EXPECT_PRED_FORMAT2(IsSubstring, "tests=\"1\"", read_file(directory / "junit.xml"));
  EXPECT_PRED_FORMAT2(IsSubstring, "PASSED", read_file(directory / "summary.md"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_NE(entry.path().extension(), ".part");
    ++files;
  }
  EXPECT_EQ(files, 7U);
}

TEST(Reports, ASecondRunInTheSameDirectoryIsRefused) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
  tell(sinks, sample_result(1));
  EXPECT_THROW(run_directory_sinks(directory.path(), outcomes, Start::fresh), std::system_error);
  EXPECT_EQ(read_rows(directory / "results.csv").size(), 2U);
}

TEST(Reports, AResumedRunKeepsAndCountsEarlierRecords) {
  const TemporaryDirectory directory;
  Outcomes outcomes;
  tell(run_directory_sinks(directory.path(), outcomes, Start::fresh), sample_result(1));
  outcomes.add(sample_record(1));
  const auto sinks =
      run_directory_sinks(directory.path(), outcomes, Start::resumed, {sample_record(1)});
  outcomes.add(sample_result(2).record);
  tell(sinks, sample_result(2));
  const RunInfo run = sample_run(2, 0);
  for (const auto& sink : sinks) sink->end(run);
  EXPECT_EQ(read_rows(directory / "results.csv").size(), 3U);
  EXPECT_EQ(read_rows(directory / "samples.csv").size(), 5U);
  EXPECT_PRED_FORMAT2(IsSubstring, "tests=\"2\"", read_file(directory / "junit.xml"));
  EXPECT_PRED_FORMAT2(IsSubstring, "2 right", read_file(directory / "summary.md"));
}

TEST(Reports, ARunThatDiesBetweenSamplesAndRowIsResumedWithoutThem) {
  const TemporaryDirectory directory;
  const Outcomes outcomes;
  {
    const auto sinks = run_directory_sinks(directory.path(), outcomes, Start::fresh);
    tell(sinks, sample_result(1));
    for (const auto& sink : sinks) {
      sink->result(sample_result(2));
      if (read_rows(directory / "samples.csv").size() == 5) break;
    }
  }
  EXPECT_EQ(read_rows(directory / "results.csv").size(), 2U) << "samples come first";
  tell(run_directory_sinks(directory.path(), outcomes, Start::resumed,
                           read_results_file(directory / "results.csv")),
       sample_result(2));
  EXPECT_EQ(read_rows(directory / "results.csv").size(), 3U);
  EXPECT_EQ(read_rows(directory / "samples.csv").size(), 5U) << "and are there once";
}

}  // namespace
}  // namespace assay
