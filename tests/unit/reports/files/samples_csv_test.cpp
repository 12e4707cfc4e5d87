#include "reports/files/samples_csv.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

const std::string header =
    "case_id,device,timing,attempt,repeat,sample,seconds,launches,clock_hz,throttled,"
    "seconds_forth,seconds_back\n";

/// The two samples of sample_record(n).
std::string samples_of(int n) {
  return fmt::format(
      "copy/f32/n={0},cpu,batch,1,1,1,2e-06,4,,,,\n"
      "copy/f32/n={0},cpu,batch,1,1,2,3e-06,4,,,,\n",
      n);
}

/// Returns the file after a run with `records` was resumed over `text`.
std::string resumed(const std::string& text, const std::vector<Record>& records) {
  const TemporaryDirectory directory;
  write_file(directory / "samples.csv", text);
  const SamplesCsv sink(directory / "samples.csv", Start::resumed, records);
  return read_file(directory / "samples.csv");
}

TEST(OrphanedSamples, AreCutFromTheEnd) {
  const std::string kept = header + samples_of(1) + samples_of(2);
  const std::vector<Record> records{sample_record(1), sample_record(2)};
  EXPECT_EQ(resumed(kept + samples_of(3), records), kept);
  EXPECT_EQ(resumed(kept + samples_of(3) + samples_of(4), records), kept);
  EXPECT_EQ(resumed(kept, {}), header) << "no row, no samples";
}

TEST(OrphanedSamples, AreToldByEveryPartOfTheKey) {
  const std::string kept = header + samples_of(1);
  for (const std::string orphan : {"copy/f32/n=1,cpu,batch,1,2", "copy/f32/n=1,cpu,batch,2,1",
                                   "copy/f32/n=1,cpu,cold,1,1", "copy/f32/n=1,sim:0,batch,1,1"}) {
    EXPECT_EQ(resumed(kept + orphan + ",1,2e-06,4,,,,\n", {sample_record(1)}), kept) << orphan;
  }
}

TEST(OrphanedSamples, AreCutAfterATornRow) {
  const std::string kept = header + samples_of(1);
  for (const std::string torn : {"copy/f32/n=1,cpu,ba", "copy/f32/n=2,\"", "\"copy\n"}) {
    EXPECT_EQ(resumed(kept + torn, {sample_record(1)}), kept) << torn;
    EXPECT_EQ(resumed(kept + samples_of(2) + torn, {sample_record(1)}), kept) << torn;
  }
}

TEST(OrphanedSamples, OthersStay) {
  const std::string all = header + samples_of(1) + samples_of(2);
  EXPECT_EQ(resumed(all, {sample_record(1), sample_record(2), sample_record(3)}), all);
  // Samples before those of a known record are not at the end.
  EXPECT_EQ(resumed(all, {sample_record(2)}), all);
}

TEST(OrphanedSamples, AFileThatIsMissingOrEmptyIsBegun) {
  const TemporaryDirectory directory;
  EXPECT_EQ(cut_orphaned_samples(directory / "none.csv", {}), 0U);
  EXPECT_FALSE(std::filesystem::exists(directory / "none.csv"));
  EXPECT_EQ(resumed("", {}), header);
  EXPECT_EQ(resumed("case_id,dev", {sample_record(1)}), header);
  EXPECT_EQ(resumed(header, {}), header);
  EXPECT_EQ(resumed(header, {sample_record(1)}), header);
}

TEST(OrphanedSamples, KeysMayHoldLineBreaksAndNeedlessQuotes) {
  Record odd = sample_record(1);
  odd.case_id = "a\n\"b\",c";
  odd.device = "\xFF";  // written as U+FFFD
  const TemporaryDirectory directory;
  {
    SamplesCsv sink(directory / "samples.csv");
    sink.result({odd, {{.seconds = 1}, {.seconds = 2}}});
  }
  const std::string kept = read_file(directory / "samples.csv");
  EXPECT_EQ(resumed(kept + "\"d\n\n,\"\"\",cpu,batch,1,1,1,1,1,,,,\n", {odd}), kept);
  EXPECT_EQ(resumed(kept, {odd}), kept);
  EXPECT_EQ(resumed(kept, {sample_record(1)}), header);
  const std::string quoted = header + "\"copy/f32/n=1\",\"cpu\",\"batch\",\"1\",1,1,1,1,,,,\n";
  EXPECT_EQ(resumed(quoted, {sample_record(1)}), quoted);
}

TEST(OrphanedSamples, NothingIsCutFromAFileOfOtherColumns) {
  const TemporaryDirectory directory;
  write_file(directory / "samples.csv", "a,b\n1,2\n");
  EXPECT_THROW(SamplesCsv(directory / "samples.csv", Start::resumed), UsageError);
  EXPECT_EQ(read_file(directory / "samples.csv"), "a,b\n1,2\n");
}

TEST(OrphanedSamples, AreCounted) {
  const TemporaryDirectory directory;
  write_file(directory / "samples.csv", header + samples_of(1) + samples_of(2));
  const std::vector<Record> records{sample_record(1)};
  EXPECT_EQ(cut_orphaned_samples(directory / "samples.csv", records), 2U);
  EXPECT_EQ(cut_orphaned_samples(directory / "samples.csv", records), 0U);
}

}  // namespace
}  // namespace assay
