// Rows and columns of an output as a problem of their own: their reference is that of the whole.
#include "harness/execute/part_of_problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/execute/verify_launch.h"
#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay {
namespace {

/// Expected elements of a rank: value, rest and scale of each, or their bits.
struct Expected {
  std::vector<double> value;
  std::vector<double> rest;
  std::vector<double> scale;
  std::vector<std::byte> bits;
};

Expected expected_of(const OpInstance& op, std::span<const std::vector<HostTensor>> inputs) {
  const reference::Reference reference = reference::find(op);
  const reference::Problem problem{op, inputs};
  const reference::State state = reference::solve(reference, problem);
  const auto elements = static_cast<std::size_t>(op.signature.outputs[0].elements());
  Expected expected;
  if (reference.values != nullptr) {
    for (auto* list : {&expected.value, &expected.rest, &expected.scale}) list->resize(elements);
    reference.values(problem, state, 0, {expected.value, expected.rest, expected.scale});
  }
  if (reference.bits != nullptr) {
    expected.bits.resize(static_cast<std::size_t>(op.signature.outputs[0].bytes()));
    reference.bits(problem, state, 0, expected.bits);
  }
  return expected;
}

/// The same number, or NaN both.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_part_of_whole(const std::string& id, std::vector<std::int64_t> rows,
                          std::vector<std::int64_t> columns) {
  const OpInstance op = parse_case_id(id).op;
  for (int pass = 0; pass < std::ssize(passes(op)); ++pass) {
    const RankInputs inputs = generate_inputs(op, pass, 3, 1);
    const PartOfProblem part = part_of(op, inputs[0], rows, columns);
    const Expected whole = expected_of(op, inputs);
    const Expected some = expected_of(part.op, part.inputs);
    const std::int64_t elements = part.op.signature.outputs[0].elements();
    const std::int64_t all_rows = rows.empty() ? rows_apart(op) : std::ssize(rows);
    const std::int64_t width = columns.empty() ? part.whole_columns : std::ssize(columns);
    ASSERT_EQ(elements, all_rows * width) << id;
    const std::size_t bytes = size_bytes(output_dtype(op));
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t row = rows.empty() ? i / width : rows[static_cast<std::size_t>(i / width)];
      const std::int64_t column =
          columns.empty() ? i % width : columns[static_cast<std::size_t>(i % width)];
      const std::int64_t at = part.index_in_whole(i);
      ASSERT_EQ(at, row * part.whole_columns + column) << id;
      const auto here = static_cast<std::size_t>(i);
      const auto there = static_cast<std::size_t>(at);
      if (!whole.value.empty()) {
        ASSERT_TRUE(same(some.value[here], whole.value[there])) << id << " " << i;
        ASSERT_TRUE(same(some.rest[here], whole.rest[there])) << id << " " << i;
        ASSERT_TRUE(same(some.scale[here], whole.scale[there])) << id << " " << i;
      }
      if (!whole.bits.empty()) {
        ASSERT_TRUE(std::equal(&some.bits[here * bytes], &some.bits[here * bytes] + bytes,
                               &whole.bits[there * bytes]))
            << id << " " << i;
      }
    }
  }
}

TEST(PartOfProblem, OfALayerHasItsRowsAndColumns) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16", "i8", "tf32", "e4m3"}) {
    for (const char* rest : {"bias=1,act=none", "bias=0,act=relu"}) {
      const std::string id = fmt::format("linear/{}/batch=9,in=32,out=21,{}", dtype, rest);
      expect_part_of_whole(id, {0, 3, 8}, {1, 2, 19, 20});
      expect_part_of_whole(id, {4}, {});
      expect_part_of_whole(id, {}, {7});
      expect_part_of_whole(id, {}, {});
    }
  }
  expect_part_of_whole("linear/f32/batch=9,in=32,out=21,bias=1,act=gelu", {2, 5}, {0, 20});
}

TEST(PartOfProblem, OfGradientsTakesLinesThatLieSideBySide) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16", "tf32"}) {
    for (const char* op : {"linear_dx", "linear_dw"}) {
      const std::string id = fmt::format("linear/{}/{}/batch=9,in=21,out=9", op, dtype);
      expect_part_of_whole(id, {0, 3, 8}, {1, 2, 19, 20});
      expect_part_of_whole(id, {4}, {});
      expect_part_of_whole(id, {}, {7});
      expect_part_of_whole(fmt::format("linear/{}/{}/batch=8,in=8,out=8", op, dtype), {1, 6},
                           {0, 3, 7});
    }
  }
}

TEST(PartOfProblem, OfABlockScaledLayerTakesScalesAlong) {
  for (const char* dtype : {"mxfp8", "mxfp4", "nvfp4"}) {
    for (const char* bias : {"0", "1"}) {
      const std::string id =
          fmt::format("linear/{}/batch=9,in=64,out=48,bias={},act=none", dtype, bias);
      expect_part_of_whole(id, {0, 3, 8}, {1, 2, 47});
      expect_part_of_whole(id, {7}, {});
      expect_part_of_whole(id, {}, {5, 6});
    }
  }
}

TEST(PartOfProblem, JoinsRowsOfSeveralProblems) {
  const OpInstance op = parse_case_id("tensor_ops/softmax/f32/rows=9,cols=21").op;
  ASSERT_TRUE(can_join_rows(op));
  std::vector<PartOfProblem> parts;
  std::vector<double> of_parts;
  for (const int seed : {1, 2, 3}) {
    const RankInputs inputs = generate_inputs(op, 0, seed, 1);
    const PartOfProblem& part = parts.emplace_back(part_of(op, inputs[0], {seed, 8}, {}));
    const Expected some = expected_of(part.op, part.inputs);
    of_parts.insert(of_parts.end(), some.value.begin(), some.value.end());
  }
  const PartOfProblem all = joined(op, parts);
  EXPECT_EQ(all.rows, (std::vector<std::int64_t>{1, 8, 2, 8, 3, 8}));
  EXPECT_EQ(all.index_in_whole(2 * 21 + 4), 2 * 21 + 4);
  EXPECT_EQ(expected_of(all.op, all.inputs).value, of_parts);
}

TEST(PartOfProblem, JoinsNoRowsWhereAllShareAnInput) {
  for (const char* id : {"linear/f32/batch=9,in=32,out=21,bias=0,act=none",
                         "tensor_ops/layernorm/f32/rows=9,cols=21", "tensor_ops/sum/f32/n=9"}) {
    EXPECT_FALSE(can_join_rows(parse_case_id(id).op)) << id;
  }
}

TEST(PartOfProblem, OfSquareTensorsDoesNotTakeColumnsForRows) {
  expect_part_of_whole("linear/f32/batch=8,in=8,out=8,bias=1,act=none", {1, 6}, {0, 3, 7});
  expect_part_of_whole("linear/f32/batch=8,in=8,out=8,bias=1,act=none", {1, 6}, {});
  expect_part_of_whole("linear/f32/batch=8,in=8,out=8,bias=1,act=none", {}, {1, 6});
  expect_part_of_whole("tensor_ops/batched_matmul/f32/batch=4,m=4,n=4,k=4", {1, 3}, {});
}

TEST(PartOfProblem, OfOtherOpsHasWholeRows) {
  for (const char* id :
       {"tensor_ops/softmax/f32/rows=9,cols=33", "tensor_ops/softmax/f16/rows=9,cols=33",
        "tensor_ops/layernorm/f32/rows=9,cols=33", "tensor_ops/layernorm/f64/rows=9,cols=33",
        "tensor_ops/rmsnorm/f32/rows=9,cols=33", "tensor_ops/rmsnorm/bf16/rows=9,cols=33",
        "tensor_ops/topk/f32/rows=9,cols=33,k=5", "views/softmax/f32/rows=9,cols=33,view=stepped",
        "tensor_ops/batched_matmul/bf16/batch=9,m=3,n=4,k=5",
        "tensor_ops/batched_matmul/f32/batch=9,m=3,n=4,k=5",
        "linear/linear_stack/f32/batch=9,in=16,width=24,layers=3,bias=1,act=relu",
        "linear/linear_stack/bf16/batch=9,in=16,width=24,layers=3,bias=1,act=gelu"}) {
    const OpInstance op = parse_case_id(id).op;
    EXPECT_TRUE(has_rows_apart(op)) << id;
    EXPECT_EQ(rows_apart(op), 9) << id;
    EXPECT_FALSE(has_columns_apart(op)) << id;
    EXPECT_EQ(columns_apart(op), 1) << id;
    expect_part_of_whole(id, {0, 3, 8}, {});
    expect_part_of_whole(id, {5}, {});
  }
}

TEST(PartOfProblem, KnowsWhatStandsApart) {
  const OpInstance layer = parse_case_id("linear/f32/batch=9,in=32,out=21,bias=1,act=none").op;
  EXPECT_EQ(rows_apart(layer), 9);
  EXPECT_TRUE(has_columns_apart(layer));
  EXPECT_EQ(columns_apart(layer), 21);
  const OpInstance sum = parse_case_id("tensor_ops/sum/f32/n=100").op;
  EXPECT_FALSE(has_rows_apart(sum));
  EXPECT_EQ(rows_apart(sum), 1);
  EXPECT_EQ(columns_apart(sum), 1);
}

/// Every op that says that it has rows apart, or columns, must have them.
TEST(PartOfProblem, OfEachOpOfTheTableIsRight) {
  std::string apart;
  for (const Op& op : op_table()) {
    if (!op.independent_rows.empty()) apart += fmt::format("{} ", op.name);
    if (!op.independent_columns.empty()) {
      EXPECT_TRUE(op.name.starts_with("linear")) << op.name;
    }
  }
  EXPECT_EQ(
      apart,
      "batched_matmul linear linear_stack linear_dx linear_dw softmax layernorm rmsnorm topk ")
      << "add a case of a new one above";
}

}  // namespace
}  // namespace assay
