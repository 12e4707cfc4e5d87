#include "reports/page/result_table.h"

#include "tests/unit/page_support.h"

namespace assay::page {
namespace {

RunSource run_of(std::vector<Record> records) {
  RunSource run;
  run.records = std::move(records);
  return run;
}

/// Returns the text of a column in a row.
std::string text(const Json& column, std::size_t row) {
  return column["texts"][column["rows"][row].get<std::size_t>()];
}

/// Returns the column with this key; null if there is none.
Json column(const Json& table, std::string_view key) {
  for (const Json& one : table["columns"]) {
    if (one["key"] == key) return one;
  }
  return nullptr;
}

TEST(ResultTable, ShowsEachRowWithItsUnits) {
  Record row = timed("allreduce", "cpu", 1.234e-3);
  row.flops_per_s = 5e9;
  row.busbw_bytes_per_s = 2e9;
  row.fraction_of_limit = 0.504;
  row.max_bound_ratio = 0.12345;
  row.noise = 0.0123;
  row.reason = "why";
  const Json table = result_table({run_of({row})});
  std::vector<std::string> shown;
  for (const Json& one : table["columns"]) shown.push_back(text(one, 0));
  EXPECT_EQ(shown, (std::vector<std::string>{"✓ pass", row.case_id, row.suite, "cpu", row.timing,
                                             "1.23 ms", "5.00 GFLOP/s", "2.00 GB/s", "50%", "0.123",
                                             "1.2%", "why"}));
  EXPECT_EQ(table["counts"], Json::array({1}));
}

TEST(ResultTable, FiguresSortByTheirValueAndEmptyOnesAreEmpty) {
  std::vector<Record> rows{timed("a", "cpu", 2.0001e-3), timed("b", "cpu", 1e-6),
                           record("c", "cpu"), timed("d", "cpu", 2.0002e-3),
                           timed("e", "cpu", 1e-6)};
  const Json time = column(result_table({run_of(rows)}), "time_median_s");
  EXPECT_EQ(time["texts"], Json::parse(R"(["", "1.00 µs", "2.00 ms", "2.00 ms"])"));
  EXPECT_EQ(time["rows"], Json::parse("[2, 1, 0, 3, 1]"));
  EXPECT_TRUE(time["is_number"]);
}

TEST(ResultTable, AStandInHasErrorsAndNoSpeed) {
  Record row = timed("add", "sim:0", 1e-3);
  row.noise = row.fraction_of_limit = row.flops_per_s = row.max_bound_ratio = 0.5;
  const Json table = result_table({run_of({row})});
  for (const char* key :
       {"time_median_s", "flops_per_s", "bandwidth", "fraction_of_limit", "noise"}) {
    EXPECT_EQ(text(column(table, key), 0), "") << key;
  }
  EXPECT_EQ(text(column(table, "max_bound_ratio"), 0), "0.5");
}

TEST(ResultTable, TellsWhatIsNotRightAndNotExpected) {
  Record known = record("exp", "cpu", Status::crash);
  known.expected_failure = "a bug";
  const std::vector<Record> rows{
      record("add", "cpu"),
      record("add", "cpu", Status::fail),
      known,
      record("add", "cpu", Status::skip),
      record("add", "cpu", Status::crash),
      record("sub", "cpu"),
  };
  const Json status = column(result_table({run_of(rows)}), "status");
  EXPECT_EQ(status["rows"], Json::parse("[0, 1, 2, 3, 4, 0]"));
  EXPECT_EQ(status["texts"],
            Json::parse(R"(["✓ pass", "✗ fail", "○ crash", "– skip", "! crash"])"));
  EXPECT_EQ(status["keys"], Json::parse(R"(["pass", "fail", "crash", "skip", "crash"])"));
  EXPECT_EQ(status["kinds"], Json::parse(R"(["right", "wrong", "skip", "skip", "broken"])"));
  EXPECT_EQ(status["groups"], Json::parse(R"(["", "bad", "", "", "bad"])"));
  EXPECT_EQ(status["choices"], Json::parse(R"([["bad", "not right"]])"));
}

TEST(ResultTable, SeveralRunsAreToldApart) {
  EXPECT_EQ(column(result_table({run_of({record("add", "cpu")})}), "run"), nullptr);
  const Json table = result_table({run_of({record("add", "cpu"), record("sub", "cpu")}), run_of({}),
                                   run_of({record("add", "cpu")})});
  EXPECT_EQ(table["counts"], Json::array({2, 0, 1}));
  EXPECT_EQ(column(table, "run")["texts"], Json::array({"1", "2", "3"}));
  EXPECT_EQ(column(table, "run")["rows"], Json::array({0, 0, 2}));
}

}  // namespace
}  // namespace assay::page
