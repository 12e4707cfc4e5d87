#include "reports/page/cell_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::page {
namespace {

using Texts = std::vector<std::string>;

/// Returns the cells of all rows, as the script reads them.
std::vector<Texts> read(const std::string& csv, const Json& index) {
  std::vector<Texts> rows;
  auto at = index["begin"].get<std::size_t>();
  for (std::size_t row = 0; row < index["rows"]; ++row) {
    const auto number = [&](const Json& numbers) {
      return (numbers.is_array() ? numbers[row] : numbers).get<std::size_t>();
    };
    Texts& texts = rows.emplace_back();
    for (const Json& cell : index["cells"]) {
      const std::size_t begin = at + number(cell["skip"]);
      at = begin + number(cell["length"]);
      const std::string key = fmt::format("{}.{}", row, texts.size());
      texts.push_back(index["texts"].value(key, csv.substr(begin, at - begin)));
    }
  }
  return rows;
}

TEST(CellIndex, FindsCellsOfAllKinds) {
  const std::string csv =
      "\xEF\xBB\xBF\"id\",b,c\r\n1,\"x,y\",\n\"\",\"say \"\"hi\"\"\",\"two\nlines\"\n\n'=1,µ,z";
  const Json index = cell_index(csv);
  EXPECT_EQ(read(csv, index), (std::vector<Texts>{{"", "1", "x,y", "", ""},
                                                  {"", "", "say \"hi\"", "two\nlines", ""},
                                                  {"", "=1", "µ", "z", ""}}));
  EXPECT_EQ(index["texts"], (Json{{"1.2", "say \"hi\""}, {"2.1", "=1"}})) << "no more than needed";
  Texts names;
  for (const Json& cell : index["cells"]) names.push_back(cell["name"]);
  EXPECT_EQ(names, (Texts{"", "id", "b", "c", ""}));
}

TEST(CellIndex, NumbersThatAllRowsShareStandOnce) {
  const Json cells = cell_index("a,b\n\"1\",22\n\"2\",333\n")["cells"];
  EXPECT_EQ(cells[0]["skip"], 1) << "the line end";
  EXPECT_EQ(cells[1]["skip"], 1) << "the quote";
  EXPECT_EQ(cells[2]["skip"], 2) << "the quote and the comma";
  EXPECT_EQ(cells[1]["length"], 1);
  EXPECT_EQ(cells[2]["length"], Json::array({2, 3}));
}

TEST(CellIndex, AFileWithoutRowsHasNone) {
  for (const char* csv : {"", "a,b\n"}) EXPECT_EQ(cell_index(csv)["rows"], 0) << csv;
}

}  // namespace
}  // namespace assay::page
