// Where the elements of views lie, and which ops take them.
#include "kernels/ops/views.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"

namespace assay {
namespace {

OpInstance instance(std::string_view op, std::initializer_list<Params::Entry> extents,
                    const std::string& view) {
  Params params;
  for (const auto& [name, value] : extents) params.set(name, value);
  params.set("view", view);
  return instantiate(*find_op(op), DType::f32, params);
}

std::vector<std::int64_t> offsets(const TensorSpec& spec) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < spec.elements(); ++i) all.push_back(spec.offset_of(i));
  return all;
}

std::initializer_list<Params::Entry> two_by_three() {
  static const std::initializer_list<Params::Entry> extents{{"n", std::int64_t{6}},
                                                            {"cols", std::int64_t{3}}};
  return extents;
}

TEST(Views, LieAsNamed) {
  const OpInstance turned = instance("add", two_by_three(), "transposed");
  for (const TensorSpec& x : turned.signature.inputs)
    EXPECT_EQ(offsets(x), (std::vector<std::int64_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_TRUE(turned.signature.outputs[0].is_dense());

  const OpInstance mixed = instance("add", two_by_three(), "first_transposed");
  EXPECT_EQ(mixed.signature.inputs[0].strides, (Strides{1, 2}));
  EXPECT_TRUE(mixed.signature.inputs[1].is_dense());

  const OpInstance stepped = instance("neg", two_by_three(), "stepped");
  EXPECT_EQ(offsets(stepped.signature.inputs[0]), (std::vector<std::int64_t>{0, 3, 6, 18, 21, 24}))
      << "x[::2, ::3] of 4 rows of 9";
  EXPECT_EQ(stepped.signature.inputs[0].span_bytes(), 25 * sizeof(float));

  const OpInstance padded = instance("add", two_by_three(), "padded");
  std::set<std::int64_t> distances;
  for (const auto* tensors : {&padded.signature.inputs, &padded.signature.outputs}) {
    for (const TensorSpec& spec : *tensors) distances.insert(spec.row_stride());
  }
  EXPECT_EQ(distances.size(), 3) << "of no two tensors the same";
  EXPECT_GT(*distances.begin(), 3);
}

TEST(Views, RepeatElementsWithoutTheirBytes) {
  const OpInstance rows = instance("add", two_by_three(), "expanded");
  for (const TensorSpec& x : rows.signature.inputs) {
    EXPECT_EQ(offsets(x), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(x.distinct_elements(), 3);
    EXPECT_EQ(x.span_bytes(), 3 * sizeof(float));
  }
  EXPECT_EQ(rows.signature.bytes, (3 + 3 + 6) * sizeof(float));

  const OpInstance columns = instance("neg", two_by_three(), "expanded_columns");
  EXPECT_EQ(offsets(columns.signature.inputs[0]), (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}));

  const OpInstance last = instance("add", two_by_three(), "last_expanded");
  EXPECT_TRUE(last.signature.inputs[0].is_dense());
  EXPECT_EQ(last.signature.inputs[1].strides, (Strides{0, 1}));
}

TEST(Views, AreRefusedWhereNothingWouldLieOtherwise) {
  EXPECT_THROW(instance("neg", two_by_three(), "first_transposed"), NotApplicable) << "one input";
  EXPECT_THROW(instance("sum", {{"n", std::int64_t{6}}}, "transposed"), NotApplicable) << "a row";
  EXPECT_THROW(instance("sum", {{"n", std::int64_t{1}}}, "stepped"), NotApplicable)
      << "one element";
  EXPECT_THROW(
      instance("add", {{"n", std::int64_t{6}}, {"cols", std::int64_t{3}}, {"ld", std::int64_t{4}}},
               "padded"),
      NotApplicable)
      << "ld says it already";
}

TEST(Views, OfTheMiddleExtentExchangeTheLastTwo) {
  const OpInstance op = instance(
      "sum_axis", {{"outer", std::int64_t{2}}, {"n", std::int64_t{3}}, {"inner", std::int64_t{5}}},
      "transposed");
  EXPECT_EQ(op.signature.inputs[0].strides, (Strides{15, 1, 3}));
}

TEST(Views, ChangeNothingElse) {
  for (const Op& op : op_table()) {
    const bool takes_views =
        std::ranges::find(op.parameters, "view", &Parameter::name) != op.parameters.end();
    EXPECT_FALSE(takes_views && (op.collective || op.is_scenario || op.multi_device)) << op.name;
  }
  const OpInstance view =
      instance("softmax", {{"rows", std::int64_t{4}}, {"cols", std::int64_t{6}}}, "stepped");
  ASSERT_TRUE(has_view(view));
  const OpInstance dense = without_view(view);
  EXPECT_FALSE(has_view(dense));
  EXPECT_TRUE(dense.signature.inputs[0].is_dense());
  EXPECT_EQ(dense.signature.bytes, view.signature.bytes);
  EXPECT_EQ(passes(dense).size(), passes(view).size());
}

}  // namespace
}  // namespace assay
