// The order of a tensor's elements in memory.
#include "harness/input/memory_order.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::input {
namespace {

std::vector<MemoryOrder::Run> all_runs(const MemoryOrder& order) {
  std::vector<MemoryOrder::Run> runs(static_cast<std::size_t>(order.runs()));
  order.list(0, runs);
  return runs;
}

TEST(MemoryOrder, OfADenseTensorIsOneRun) {
  const MemoryOrder order({DType::f32, {3, 5}});
  EXPECT_EQ(order.runs(), 1);
  EXPECT_EQ(order.run_elements(), 15);
}

TEST(MemoryOrder, OfRowsApartIsThatOfTheRows) {
  const MemoryOrder order({.dtype = DType::f32, .shape = {2, 3, 5}, .strides = {21, 7, 1}});
  EXPECT_EQ(order.runs(), 6);
  EXPECT_EQ(order.run_elements(), 5);
  EXPECT_EQ(order.run(4).element, 20);
  EXPECT_EQ(order.run(4).offset, 28);
}

TEST(MemoryOrder, OfATransposedMatrixGoesDownItsColumns) {
  const MemoryOrder order({.dtype = DType::f32, .shape = {2, 3}, .strides = {1, 2}});
  const std::vector<std::int64_t> elements{0, 3, 1, 4, 2, 5};
  ASSERT_EQ(order.runs(), 6);
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(order.run(i).element, elements[static_cast<std::size_t>(i)]);
    EXPECT_EQ(order.run(i).offset, i);
  }
}

/// Each element comes once, where the strides say, and later ones lie behind.
TEST(MemoryOrder, VisitsEachElementWhereItLies) {
  for (const std::vector<std::int64_t>& strides :
       {std::vector<std::int64_t>{60, 15, 3}, {1, 70, 7}, {40, 1, 5}, {63, 9, 1}, {20, 5, 1}}) {
    const TensorSpec spec{.dtype = DType::u8, .shape = {3, 4, 5}, .strides = strides};
    const MemoryOrder order(spec);
    std::vector<bool> seen(60, false);
    std::int64_t behind = 0;
    for (const MemoryOrder::Run& run : all_runs(order)) {
      EXPECT_GE(run.offset, behind);
      for (std::int64_t i = 0; i < order.run_elements(); ++i) {
        const std::int64_t element = run.element + i;
        EXPECT_FALSE(seen.at(static_cast<std::size_t>(element)));
        seen[static_cast<std::size_t>(element)] = true;
        EXPECT_EQ(spec.offset_of(element), run.offset + i);
      }
      behind = run.offset + order.run_elements();
    }
    EXPECT_EQ(std::ranges::count(seen, true), 60);
  }
}

TEST(MemoryOrder, VisitsTheFirstOfElementsThatShareMemory) {
  const MemoryOrder one_row({.dtype = DType::f32, .shape = {3, 5}, .strides = {0, 1}});
  EXPECT_EQ(one_row.runs(), 1);
  EXPECT_EQ(one_row.run_elements(), 5);
  const MemoryOrder one_column({.dtype = DType::f32, .shape = {3, 5}, .strides = {1, 0}});
  ASSERT_EQ(one_column.runs(), 3);
  EXPECT_EQ(one_column.run_elements(), 1);
  EXPECT_EQ(one_column.run(2).element, 10);
  EXPECT_EQ(one_column.run(2).offset, 2);
}

TEST(MemoryOrder, ListsWhatRunsSay) {
  const MemoryOrder order({.dtype = DType::u8, .shape = {3, 4, 5}, .strides = {60, 15, 3}});
  std::vector<MemoryOrder::Run> some(17);
  order.list(8, some);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(some[i].element, order.run(8 + static_cast<std::int64_t>(i)).element);
    EXPECT_EQ(some[i].offset, order.run(8 + static_cast<std::int64_t>(i)).offset);
  }
}

}  // namespace
}  // namespace assay::input
