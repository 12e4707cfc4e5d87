#include "harness/records/csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "kernels/core/status.h"

namespace assay {
namespace {

using Fields = std::vector<std::string>;

std::vector<CsvRow> parse(const std::string& text) {
  std::istringstream stream(text);
  return read_csv(stream, "t.csv");
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvLine, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csv_line(Fields{"a", "b c", " d ", "1.5", "#"}), "a,b c, d ,1.5,#");
  EXPECT_EQ(csv_line(Fields{"a,b"}), "\"a,b\"");
  EXPECT_EQ(csv_line(Fields{"say \"hi\"", "x"}), "\"say \"\"hi\"\"\",x");
  EXPECT_EQ(csv_line(Fields{"a\nb", "c\rd"}), "\"a\nb\",\"c\rd\"");
}

TEST(CsvLine, TextThatASpreadsheetWouldComputeIsGuarded) {
  EXPECT_EQ(csv_line(Fields{"=1+1", "@sum(a)", "-x", "+a:b", "=a,b"}),
            "'=1+1,'@sum(a),'-x,'+a:b,\"'=a,b\"");
  EXPECT_EQ(csv_line(Fields{"-1.5", "+3", "-1e-300", "-1e999", "-inf", "-nan"}),
            "-1.5,+3,-1e-300,-1e999,-inf,-nan")
      << "numbers are no formulas";
  EXPECT_EQ(csv_line(Fields{"'tis", "''", "a=b", "assay run --case x", "-", "--", "+-1"}),
            "'tis,'',a=b,assay run --case x,'-,'--,'+-1");
}

TEST(ReadCsv, TakesTheGuardOffAndNothingElse) {
  for (const std::string text : {"=1", "'=1", "''=1", "'", "''", "'a", "-1", "'-1", "\t", "'\t",
                                 "+", "@@", "'=\n\"", "\r"}) {
    EXPECT_EQ(parse(csv_line(Fields{text, text}) + "\n").at(0).fields, (Fields{text, text}))
        << text;
  }
}

TEST(CsvLine, EmptyFields) {
  EXPECT_EQ(csv_line(Fields{"", "", ""}), ",,");
  EXPECT_EQ(csv_line(Fields{""}), "\"\"") << "an empty line would be no record";
}

TEST(ReadCsv, ReadsBackWhatWasWritten) {
  const std::vector<Fields> rows{{"plain", "", "x"},
                                 {"a,b", "\"", "\"\""},
                                 {"line\nbreak", "cr\rlf\r\nend", ","},
                                 {" spaces ", "\ttab\t", "\"quoted\" inside"},
                                 {"naïve", "µs", "…"},
                                 {""},
                                 {"", ""},
                                 {std::string("nul\0byte", 8), "\xFF\xFE", "'"}};
  std::string text;
  for (const Fields& row : rows) text += csv_line(row) + "\n";
  const auto read = parse(text);
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(read[i].fields, rows[i]) << "row " << i;
}

TEST(ReadCsv, TakesEveryLineEndAndNoneAtTheEnd) {
  for (const std::string text : {"a,b\nc,d\n", "a,b\r\nc,d\r\n", "a,b\rc,d\r", "a,b\nc,d"}) {
    const auto rows = parse(text);
    ASSERT_EQ(rows.size(), 2U) << text;
    EXPECT_EQ(rows[0].fields, (Fields{"a", "b"}));
    EXPECT_EQ(rows[1].fields, (Fields{"c", "d"}));
    EXPECT_EQ(rows[1].line, 2U) << text;
  }
}

TEST(ReadCsv, PassesOverEmptyLinesAndCountsThem) {
  const auto rows = parse("\n\na\r\n\r\n\nb\n\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, 3U);
  EXPECT_EQ(rows[1].line, 6U);
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse("\n\r\n").empty());
}

TEST(ReadCsv, CountsALineThatBeginsWithACommaAfterAReturn) {
  const auto rows = parse("a\r,b\n,c\n\"d\re\"\nf");
  ASSERT_EQ(rows.size(), 5U);
  for (const std::size_t i : {0U, 1U, 2U, 3U}) EXPECT_EQ(rows[i].line, i + 1);
  EXPECT_EQ(rows[4].line, 6U);
}

TEST(ReadCsv, QuotedFieldsOfAllKindsStandBesidePlainOnes) {
  const auto rows = parse("a,\"b\",\"\",\"c,d\",\"e\"\"f\",\"g\nh\",i\n\"j\"\r\nk,\"l\"");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].fields, (Fields{"a", "b", "", "c,d", "e\"f", "g\nh", "i"}));
  EXPECT_EQ(rows[0].columns, (std::vector<std::size_t>{1, 3, 7, 10, 16, 23, 29}));
  EXPECT_EQ(rows[1].fields, (Fields{"j"}));
  EXPECT_EQ(rows[2].fields, (Fields{"k", "l"}));
  EXPECT_EQ(rows[2].line, 4U);
}

TEST(ReadCsv, RowsMayDifferInWidth) {
  const auto rows = parse("a,b,c\nd\ne,f,g,h\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].fields, (Fields{"d"}));
  EXPECT_EQ(rows[1].columns, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rows[2].fields, (Fields{"e", "f", "g", "h"}));
}

TEST(ReadCsv, ToleratesAByteOrderMark) {
  const auto rows = parse("\xEF\xBB\xBF\"suite\",op\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].fields, (Fields{"suite", "op"}));
  EXPECT_EQ(rows[0].columns, (std::vector<std::size_t>{1, 9}));
}

TEST(ReadCsv, TellsWhereFieldsBegin) {
  const auto rows = parse("a,bb,,\"c,c\",d\n\"x\ny\",z\nlast,1\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].columns, (std::vector<std::size_t>{1, 3, 6, 7, 13}));
  EXPECT_EQ(rows[1].line, 2U);
  EXPECT_EQ(rows[1].columns, (std::vector<std::size_t>{1, 7}));
  EXPECT_EQ(rows[2].line, 4U) << "a line break within a field counts";
}

TEST(ReadCsv, TellsWhereRowsBeginAndEnd) {
  const std::string text = "\xEF\xBB\xBF\"a\",b\r\n\n\"c\nc\",\n\"\"\rd";
  std::vector<std::string> found;
  for (const CsvRow& row : parse(text)) {
    found.push_back(text.substr(row.begin, row.end - row.begin));
  }
  EXPECT_EQ(found, (Fields{"\"a\",b", "\"c\nc\",", "\"\"", "d"}));
}

TEST(ReadCsv, NamesTheLineOfAMalformedQuote) {
  EXPECT_EQ(error_of("a,b\nc,d\"e\n"), "t.csv:2:4: a quote inside a field that is not quoted");
  EXPECT_EQ(error_of("a\n\n\"b\"x,c\n"), "t.csv:3:4: text after the closing quote of a field");
  EXPECT_EQ(error_of("a\n\"b\" ,c\n"), "t.csv:2:4: text after the closing quote of a field");
}

TEST(ReadCsv, NamesTheLineWhereAnOpenQuoteBegins) {
  EXPECT_EQ(error_of("a,b\n1,\"two\nthree\nfour\n"),
            "t.csv:2:3: the quoted field that begins here is never closed");
  EXPECT_EQ(error_of("\""), "t.csv:1:1: the quoted field that begins here is never closed");
}

TEST(ReadCsv, ReadsLongFields) {
  const std::string big(1 << 20, 'x');
  const auto rows = parse("a," + big + ",\"" + big + "\"\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].fields, (Fields{"a", big, big}));
}

TEST(ReadCsv, IsTheSameWhereverTheTextIsCut) {
  // Takes several reads, with a line end of two characters across the end of each.
  std::string text;
  for (std::size_t line = 1; text.size() < 300'000; ++line) {
    text += "\"x\r\ny\"," + std::to_string(line) + std::string(line % 7, 'z') + "\r\n";
  }
  const auto rows = parse(text);
  ASSERT_GT(rows.size(), 10'000U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].line, 2 * i + 1);
    ASSERT_EQ(rows[i].fields,
              (Fields{"x\r\ny", std::to_string(i + 1) + std::string((i + 1) % 7, 'z')}));
  }
}

TEST(ReadCsv, SaysWhereTheTextCannotBeRead) {
  std::ifstream folder("/");
  try {
    read_csv(folder, "folder");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), std::string("folder: cannot be read"));
  }
}

TEST(ReadCsv, RefusesRowsThatNoTableHas) {
  const auto commas = [](std::size_t count) { return "a\n" + std::string(count, ',') + "\n"; };
  EXPECT_EQ(parse(commas(999)).back().fields.size(), 1000U);
  EXPECT_EQ(error_of(commas(1000)), "t.csv:2:1001: a row of more than 1000 fields");
  const std::string endless(std::size_t{65} << 20, 'x');
  EXPECT_EQ(error_of("a\n" + endless), "t.csv:2:1: a row of more than 64 MiB");
  EXPECT_EQ(error_of("a\n\"" + endless), "t.csv:2:1: a row of more than 64 MiB");
}

TEST(EachCsvRow, LetsAnExceptionOfItsVisitorPass) {
  std::istringstream text("a\nb\nc\n");
  int rows = 0;
  EXPECT_THROW(each_csv_row(text, "t.csv",
                            [&](const CsvRow&) {
                              if (++rows == 2) throw std::out_of_range("enough");
                            }),
               std::out_of_range);
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace assay
