#include "reports/page/cell_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/records/csv.h"

namespace assay::page {
namespace {

using Numbers = std::vector<std::uint32_t>;  // there are a hundred in a row

/// Cells of one column, of all rows.
struct Cells {
  std::string name;
  Numbers skips;
  Numbers lengths;
};

/// One number if all are equal.
Json shortest(const Numbers& numbers) {
  const bool differ = std::ranges::adjacent_find(numbers, std::not_equal_to()) != numbers.end();
  return differ || numbers.empty() ? Json(numbers) : Json(numbers.front());
}

class CellIndex {
 public:
  explicit CellIndex(std::string_view csv) : csv_(csv) {}

  void take_header(const CsvRow& row) {
    cells_.emplace_back();
    for (const std::string& name : row.fields) cells_.push_back({.name = name});
    cells_.emplace_back();
    begin_ = end_ = row.end;
  }

  void take(const CsvRow& row) {
    add(0, row.begin, row.begin);
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      std::size_t begin = row.begin + row.columns[i] - 1;
      std::size_t end = i + 1 < row.fields.size() ? row.begin + row.columns[i + 1] - 2 : row.end;
      if (csv_.substr(begin, end - begin).starts_with('"')) {
        ++begin;
        --end;
      }
      if (csv_.substr(begin, end - begin) != row.fields[i]) {
        texts_[fmt::format("{}.{}", rows_, i + 1)] = row.fields[i];
      }
      add(i + 1, begin, end);
    }
    add(cells_.size() - 1, row.end, row.end);
    ++rows_;
  }

  Json json() const {
    Json cells = Json::array();
    for (const Cells& cell : cells_) {
      cells.push_back({{"name", cell.name},
                       {"skip", shortest(cell.skips)},
                       {"length", shortest(cell.lengths)}});
    }
    return {{"begin", begin_}, {"rows", rows_}, {"cells", std::move(cells)}, {"texts", texts_}};
  }

 private:
  void add(std::size_t cell, std::size_t begin, std::size_t end) {
    cells_.at(cell).skips.push_back(static_cast<std::uint32_t>(begin - end_));
    cells_.at(cell).lengths.push_back(static_cast<std::uint32_t>(end - begin));
    end_ = end;
  }

  std::string_view csv_;
  std::vector<Cells> cells_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;  // of the last cell
  std::size_t rows_ = 0;
  Json texts_ = Json::object();
};

}  // namespace

Json cell_index(const std::string& csv) {
  CellIndex index(csv);
  std::istringstream stream(csv);
  bool is_header = true;
  each_csv_row(stream, "", [&](const CsvRow& row) {
    if (is_header) {
      index.take_header(row);
    } else {
      index.take(row);
    }
    is_header = false;
  });
  return index.json();
}

}  // namespace assay::page
