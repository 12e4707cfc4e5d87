#include <gtest/gtest.h>

#include <sstream>

#include "harness/records/fields_text.h"
#include "harness/records/limit.h"
#include "harness/records/paired.h"
#include "harness/records/soak_row.h"
#include "reports/compare/comparison_csv.h"
#include "reports/files/plan_csv.h"
#include "reports/files/samples_csv.h"
#include "reports/history/history_csv.h"
#include "reports/libraries/libraries_csv.h"
#include "reports/machines/figures.h"
#include "reports/machines/machines_csv.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

/// Returns the first cells, written `so`, of the table rows between a heading and the next one.
std::vector<std::string> documented(const std::string& heading,
                                    const std::string& page = "csv.md") {
  const std::string text = testing_support::read_file(ASSAY_SOURCE_DIR "/docs/" + page);
  std::vector<std::string> names;
  bool within = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) within = line == heading;
    if (!within || !line.starts_with("| `")) continue;
    names.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

TEST(CsvDocs, ListTheColumnsOfEachFileInOrder) {
  EXPECT_EQ(documented("## results.csv"), field_names<Record>());
  EXPECT_EQ(documented("## samples.csv"), field_names<SampleRow>());
  EXPECT_EQ(documented("## plan.csv"), field_names<PlanRow>());
  EXPECT_EQ(documented("## devices.csv"), field_names<DeviceInfo>());
  EXPECT_EQ(documented("## limits.csv"), field_names<Limit>());
  EXPECT_EQ(documented("## compare --csv"), comparison_columns());
  EXPECT_EQ(documented("## ab.csv"), field_names<PairedCase>());
  EXPECT_EQ(documented("## rounds.csv"), field_names<PairedRound>());
}

TEST(CsvDocs, ListTheVerdictsOfComparisonsInOrder) {
  std::vector<std::string> names;
  for (const PairedVerdict verdict : all_paired_verdicts()) names.emplace_back(name(verdict));
  EXPECT_EQ(documented("### Verdict"), names);
}

TEST(CsvDocs, ListTheColumnsOfAHistoryInOrder) {
  EXPECT_EQ(documented("## points.csv", "history.md"), history_columns());
  EXPECT_EQ(documented("## changes.csv", "history.md"), history_changes_columns());
}

TEST(CsvDocs, ListTheColumnsOfMachinesInOrder) {
  EXPECT_EQ(documented("## speeds.csv", "machines.md"), machines_columns());
  EXPECT_EQ(documented("## figures.csv", "machines.md"), machines_figures_columns());
  EXPECT_EQ(documented("## outliers.csv", "machines.md"), machines_outliers_columns());
  EXPECT_EQ(documented("## bits.csv", "machines.md"), machines_bits_columns());
}

TEST(CsvDocs, ListTheColumnsOfLibrariesInOrder) {
  EXPECT_EQ(documented("## libraries.csv", "libraries.md"), libraries_columns());
}

TEST(CsvDocs, ListTheColumnsOfASoakInOrder) {
  EXPECT_EQ(documented("## soak.csv", "soak.md"), field_names<SoakRow>());
}

TEST(CsvDocs, ListTheStatusesInOrder) {
  std::vector<std::string> names;
  for (const Status status : all_statuses()) names.emplace_back(name(status));
  EXPECT_EQ(documented("### Status"), names);
}

TEST(CsvDocs, ListTheChecksInOrder) {
  std::vector<std::string> names;
  for (const Check check : all_checks()) {
    if (check != Check::special_values) names.emplace_back(name(check));  // never in a row
  }
  EXPECT_EQ(documented("### Check"), names);
}

TEST(CsvDocs, ListTheSkipCategoriesInOrder) {
  std::vector<std::string> names;
  for (const SkipCategory category : all_skip_categories()) names.emplace_back(name(category));
  EXPECT_EQ(documented("### Skip category"), names);
}

TEST(CsvDocs, ListThePhasesOfRunJsonInOrder) {
  std::vector<std::string> names;
  for (const Phase& phase : all_phases) names.emplace_back(phase.name);
  EXPECT_EQ(documented("## run.json"), names);
}

TEST(CsvDocs, NameTheSchemaVersion) {
  const std::string text = testing_support::read_file(ASSAY_SOURCE_DIR "/docs/csv.md");
  EXPECT_NE(text.find(fmt::format("schema version {}.", Record().schema_version)),
            std::string::npos);
}

}  // namespace
}  // namespace assay
