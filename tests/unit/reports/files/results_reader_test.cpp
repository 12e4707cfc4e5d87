#include "reports/files/results_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "reports/files/results_csv.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

std::vector<Record> parse(const std::string& text) {
  std::istringstream stream(text);
  return read_results(stream, "r.csv");
}

std::string refusal(const std::string& text) {
  return message_of<UsageError>([&] { parse(text); });
}

/// Draws values that a careless reader gets wrong.
class Draw {
 public:
  void operator()(const char* /*column*/, std::string& field) {
    constexpr std::array<std::string_view, 12> pieces{
        "", "a", ",", "\"", "\n", "\r\n", "\r", " ", "\xC3\xA9\xE2\x80\xA6", "\t", "nan", "\"\""};
    field.clear();
    for (std::size_t i = pick(6); i > 0; --i) field += pieces.at(pick(pieces.size()));
  }
  void operator()(const char* /*column*/, Status& field) {
    field = all_statuses()[pick(all_statuses().size())];
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const char* /*column*/, Enum& field) {
    const auto all = enumerators(Enum());
    field = all[pick(all.size())];
  }
  void operator()(const char* /*column*/, bool& field) { field = pick(2) == 0; }
  void operator()(const char* /*column*/, double& field) {
    using limits = std::numeric_limits<double>;
    constexpr std::array extremes{
        0.0,     -0.0, limits::max(), limits::min(), limits::denorm_min(), -limits::max(),
        1.0 / 3, 1e22};
    do {
      field = pick(3) == 0 ? extremes.at(pick(extremes.size())) : std::bit_cast<double>(bits_());
    } while (!std::isfinite(field));
  }
  template <std::integral T>
  void operator()(const char* /*column*/, T& field) {
    using limits = std::numeric_limits<T>;
    constexpr std::array extremes{limits::min(), limits::max(), T{0}};
    field = pick(2) == 0 ? extremes.at(pick(extremes.size())) : static_cast<T>(bits_());
  }
  template <class T>
  void operator()(const char* column, std::optional<T>& field) {
    field.reset();
    if (pick(4) != 0) (*this)(column, field.emplace());
  }

  Record record() {
    Record record;
    visit_fields(record, *this);
    record.schema_version = 1;
    const auto is_none = [](double seconds) { return !(seconds > 0); };
    visit_fields(record, [&]<class T>(std::string_view column, T& field) {
      if constexpr (std::same_as<T, std::optional<double>>) {
        if (column.starts_with("time_") && field && is_none(*field)) field.reset();
      }
    });
    if (record.time_ci_high_s < record.time_ci_low_s) {
      std::swap(record.time_ci_low_s, record.time_ci_high_s);
    }
    return record;
  }

 private:
  std::size_t pick(std::size_t count) { return bits_() % count; }
  std::mt19937_64 bits_{20240131};
};

/// Compares bit for bit: -0 is not 0.
bool same(const Record& a, const Record& b) {
  const auto texts = [](const Record& record) {
    std::vector<std::string> cells;
    visit_fields(record, [&]<class T>(const char*, const T& field) {
      if constexpr (std::same_as<T, std::optional<double>>) {
        cells.push_back(field ? fmt::format("{:x}", std::bit_cast<std::uint64_t>(*field)) : "");
      } else {
        cells.push_back(to_cell(field));
      }
    });
    return cells;
  };
  return texts(a) == texts(b);
}

TEST(ResultsReader, EveryRecordReadsBackAsItWasWritten) {
  const TemporaryDirectory directory;
  Draw draw;
  std::vector<Record> written;
  {
    ResultsCsv file(directory / "results.csv");
    for (int i = 0; i < 500; ++i) {
      written.push_back(draw.record());
      written.back().case_id += fmt::format("{}", i);  // no key twice
      file.result({written.back(), {}});
    }
  }
  const auto read = read_results_file(directory / "results.csv");
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) ASSERT_TRUE(same(read[i], written[i])) << i;
}

TEST(ResultsReader, ColumnsMayMoveComeAndGo) {
  const auto records = parse(
      "status,novelty,timing,device,repeat,time_median_s,attempt,case_id\n"
      "flaky,9,batch,cpu,2,1.5e-06,3,tensor_ops/add/f32/n=1\n"
      "pass,,,sim:0,1,,1,x\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].status, Status::flaky);
  EXPECT_EQ(records[0].case_id, "tensor_ops/add/f32/n=1");
  EXPECT_EQ(records[0].timing, "batch");
  EXPECT_EQ(records[0].attempt, 3);
  EXPECT_EQ(records[0].repeat, 2);
  EXPECT_EQ(records[0].time_median_s, 1.5e-6);
  EXPECT_EQ(records[0].seed, Record().seed) << "a field of a later version keeps its default";
  EXPECT_EQ(records[1].device, "sim:0");
  EXPECT_EQ(records[1].time_median_s, std::nullopt);
}

TEST(ResultsReader, AHeaderWithoutRowsIsNoError) {
  EXPECT_TRUE(parse("case_id,device,timing,attempt,repeat,status\n").empty());
}

TEST(ResultsReader, MistakesAreNamedByLineAndColumn) {
  const std::string header =
      "case_id,device,timing,attempt,repeat,status,seed,max_ulp,repeatable\n";
  const auto expect = [&](const std::string& row, const std::string& message) {
    const std::string text = refusal(header + "x,cpu,,1,1,pass,1,0.5,true\n" + row + "\n");
    EXPECT_TRUE(text.starts_with("r.csv:3:" + message)) << text;
  };
  expect("x,cpu,,1,1,pass,1,0.5", "19: 8 fields where the header has 9");
  expect("x,cpu,,1,1,pass,1,0.5,true,", "28: 10 fields where the header has 9");
  expect("x,cpu,,,1,pass,1,0.5,true",
         "8: attempt: must be a whole number from -9223372036854775808");
  expect("x,cpu,,1,one,pass,1,0.5,true", "10: repeat: must be a whole number");
  expect("x,cpu,,1,1,passed,1,0.5,true",
         "12: status: unknown status 'passed'; did you mean 'pass'");
  expect("x,cpu,,1,1,,1,0.5,true", "12: status: unknown status ''");
  expect("x,cpu,,1,1,pass,18446744073709551616,0.5,true",
         "17: seed: must be a whole number from 0 to 18446744073709551615");
  expect("x,cpu,,1,1,pass,1,nan,true", "19: max_ulp: must be a finite number, not 'nan'");
  expect("x,cpu,,1,1,pass,1,-inf,true", "19: max_ulp: must be a finite number");
  expect("x,cpu,,1,1,pass,1,1e999,true", "19: max_ulp: must be a finite number");
  expect("x,cpu,,1,1,pass,1,0.5,maybe", "23: repeatable: must be true or false, not 'maybe'");
  expect("x,\xFF,,1,1,pass,1,0.5,true", "3: device: must be text in UTF-8");
  expect("\"x\ny\",cpu,,z,1,pass,1,0.5,true", "12: attempt");
}

TEST(ResultsReader, TheCheckThatFailedIsReadByItsName) {
  const std::string header = "case_id,device,timing,attempt,repeat,status,caught_by,caught_on\n";
  const auto records = parse(header + "x,cpu,,1,1,fail,guard_bands,real_data\nx,cpu,,2,1,pass,,\n");
  EXPECT_EQ(records.at(0).caught_by, Check::guard_bands);
  EXPECT_EQ(records[0].caught_on, "real_data");
  EXPECT_EQ(records.at(1).caught_by, std::nullopt);
  EXPECT_TRUE(refusal(header + "x,cpu,,1,1,fail,guard_band,\n")
                  .starts_with("r.csv:2:17: caught_by: unknown value 'guard_band'; did you mean "
                               "'guard_bands'"));
  // Written by a version without the column.
  const auto older = parse("case_id,device,timing,attempt,repeat,status\nx,cpu,,1,1,fail\n");
  EXPECT_EQ(older.at(0).caught_by, std::nullopt);
}

TEST(ResultsReader, AKeyThatIsThereTwiceIsRefused) {
  const std::string header = "case_id,device,timing,attempt,repeat,status\n";
  EXPECT_EQ(refusal(header + "x,cpu,,1,1,pass\ny,cpu,,1,1,pass\nx,cpu,,1,1,fail\n"),
            "r.csv:4:1: a second row of x on cpu (not timed, attempt 1, repeat 1); the first is in "
            "line 2");
  EXPECT_EQ(parse(header + "x,cpu,,1,1,pass\nx,cpu,,2,1,pass\nx,cpu,,1,2,pass\nx,sim:0,,1,1,pass\n"
                           "x,cpu,cold,1,1,pass\n")
                .size(),
            5U);
}

TEST(ResultsReader, AFileThatIsNoneIsRefused) {
  EXPECT_EQ(refusal(""), "r.csv:1:1: no header");
  EXPECT_EQ(refusal("case_id,device,attempt,repeat,status\n"),
            "r.csv:1:1: the header needs a column 'timing'");
  EXPECT_EQ(refusal("case_id,device,timing,attempt,repeat\nx,cpu,,1,1\n"),
            "r.csv:1:1: the header needs a column 'status'");
  EXPECT_EQ(refusal("case_id,device,a,timing,attempt,repeat,status,a\n"),
            "r.csv:1:47: column 'a' is there twice");
  EXPECT_EQ(refusal("case_id,\"\n"),
            "r.csv:1:9: the quoted field that begins here is never closed");
  const auto message = message_of<UsageError>([] { read_results_file("/nowhere/results.csv"); });
  EXPECT_EQ(message, "/nowhere/results.csv: cannot be read: No such file or directory");
  EXPECT_EQ(message_of<UsageError>([] { read_results_file("/"); }),
            "/: cannot be read: it is a directory; give a file");
}

TEST(ResultsReader, TimesThatNoClockMeasuredAreRefused) {
  const std::string header =
      "case_id,device,timing,attempt,repeat,status,time_ci_low_s,time_ci_high_s\n";
  for (const std::string high : {"0", "-0", "-1e-6"}) {
    EXPECT_EQ(refusal(header + "x,cpu,batch,1,1,pass,1e-6," + high + "\n"),
              "r.csv:2:27: time_ci_high_s: must be above 0");
  }
  EXPECT_EQ(refusal(header + "x,cpu,batch,1,1,pass,2e-6,1e-6\n"),
            "r.csv:2:22: time_ci_low_s: above time_ci_high_s");
  EXPECT_EQ(parse(header + "x,cpu,batch,1,1,pass,1e-6,1e-6\nx,cpu,,1,2,pass,,\n").size(), 2U);
}

TEST(ResultsReader, ANewerSchemaIsRefusedAsSuchWhateverElseIsThere) {
  const std::string why = ": schema version 2, and this build of assay reads up to 1";
  for (const std::string text : {"case_id,device,timing,attempt,repeat,status,schema_version\n"
                                 "x,cpu,,1,1,undecided,2\n",
                                 "name,schema_version\nx,2,more\n"}) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, why, refusal(text));
  }
}

}  // namespace
}  // namespace assay
