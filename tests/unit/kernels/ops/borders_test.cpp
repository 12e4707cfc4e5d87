// Places where kernels go wrong: of a length, of a tensor, of each of its lines.
#include "kernels/ops/borders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay {
namespace {

TEST(Borders, AreBothSidesOfWhereLoopsEnd) {
  EXPECT_EQ(borders(0), std::vector<std::int64_t>{});
  EXPECT_EQ(borders(1), std::vector<std::int64_t>{0});
  EXPECT_EQ(borders(11), (std::vector<std::int64_t>{0, 1, 4, 5, 7, 8, 9, 10}));
  const auto of_many = borders(1003);
  for (const std::int64_t place :
       {0, 7, 8, 249, 250, 255, 333, 334, 500, 501, 256, 767, 768, 999, 1000, 1001, 1002}) {
    EXPECT_TRUE(std::ranges::binary_search(of_many, place)) << place;
  }
  EXPECT_EQ(of_many.back(), 1002);
}

TEST(BorderElements, OfRowsAreThoseOfTheFirstAndTheLastToo) {
  const auto elements = border_elements({DType::f32, {3, 5}});
  EXPECT_EQ(elements, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14}));
}

TEST(BorderElements, OfColumnsAreThoseOfTheFirstAndTheLastToo) {
  TensorSpec columns{DType::f32, {2, 40, 3}};
  columns.axis = 1;
  const auto elements = border_elements(columns);
  for (const std::int64_t row : borders(40)) {
    EXPECT_TRUE(std::ranges::binary_search(elements, row * 3)) << row;
    EXPECT_TRUE(std::ranges::binary_search(elements, (40 + row) * 3 + 2)) << row;
  }
}

TEST(TensorSpec, ElementsHaveALineAndAPlaceThere) {
  TensorSpec columns{DType::f32, {2, 3, 5}};
  columns.axis = 1;
  EXPECT_EQ(columns.line_elements(), 3);
  EXPECT_EQ(columns.line_step(), 5);
  EXPECT_EQ(columns.line_of(24), 9);  // [1][1][4]
  EXPECT_EQ(columns.place_of(24), 1);
  EXPECT_EQ(columns.element_of_line(9, 1), 24);
  const TensorSpec rows{DType::f32, {2, 3}};
  EXPECT_EQ(rows.line_of(4), 1);
  EXPECT_EQ(rows.place_of(4), 1);
}

/// Each line goes through all of its places, and lines side by side are never at the same one.
TEST(LinePlaces, AreAllBordersOfEachLine) {
  TensorSpec columns{DType::f32, {3, 61, 33}};
  columns.axis = 1;
  const LinePlaces places(columns);
  for (std::int64_t line = 0; line < 3 * 33; ++line) {
    std::vector<std::int64_t> seen;
    for (std::int64_t turn = 0; turn < places.turns(); ++turn) {
      seen.push_back(places.place(line, turn));
      EXPECT_NE(seen.back(), places.place(line + 1, turn)) << line << " " << turn;
    }
    for (const std::int64_t place : places.of(line)) {
      EXPECT_NE(std::ranges::find(seen, place), seen.end()) << line << " " << place;
    }
  }
  for (const std::int64_t element : border_elements(columns)) {
    const std::vector<std::int64_t> own = places.of(element / (61 * 33) * 33 + element % 33);
    EXPECT_NE(std::ranges::find(own, element / 33 % 61), own.end()) << element;
  }
}

}  // namespace
}  // namespace assay
