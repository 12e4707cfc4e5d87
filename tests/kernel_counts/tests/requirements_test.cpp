#include "tests/kernel_counts/requirements.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::kernel_counts {
namespace {

CaseFigures good() {
  CaseFigures figures;
  figures.moved_ratio = figures.wide_load_share = figures.wide_store_share = 1;
  figures.bounds = {{"b200", 1.0, "memory"}};
  return figures;
}

TEST(Requirements, AreMetByAStreamOfVectors) {
  EXPECT_TRUE(failures(parse_case_id("tensor_ops/add/f32/n=1024"), good()).empty());
}

TEST(Requirements, EachCanFail) {
  const Case test = parse_case_id("tensor_ops/add/f32/n=1024");
  const auto fails_with = [&](auto change, const std::string& text) {
    CaseFigures figures = good();
    change(figures);
    const auto found = failures(test, figures);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found.front().text, text);
    EXPECT_EQ(found.front().reason, "");
  };
  fails_with([](auto& f) { f.moved_ratio = 1.03; }, "moves 1.03 of the compulsory bytes");
  fails_with([](auto& f) { f.wide_load_share = 0.5; }, "0.50 of loads have 16 bytes");
  fails_with([](auto& f) { f.wide_store_share = 0; }, "0.00 of stores have 16 bytes");
  fails_with([](auto& f) { f.divisions_per_element = 1; }, "1.000 divisions an element");
  fails_with([](auto& f) { f.calls_per_element = 0.5; }, "0.500 calls an element");
  fails_with([](auto& f) { f.unknown = 1; }, "has instructions without a model");
  fails_with([](auto& f) { f.bounds[0].share_of_bandwidth = 0.9; }, "0.90 on b200 by memory");
  fails_with([](auto& f) { f.moved_ratio = std::numeric_limits<double>::quiet_NaN(); },
             "moves nan of the compulsory bytes");
}

TEST(Requirements, AReasonIsOfOneOpAndOneRequirement) {
  CaseFigures figures = good();
  figures.bounds = {{"b200", 0.92, "issue"}, {"b200", 0.92, "latency"}};
  const auto found = failures(parse_case_id("tensor_ops/exp/f32/n=1024"), figures);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].reason, "");
  EXPECT_EQ(found[1].reason, "");
}

TEST(Requirements, AReasonOfNarrowElementsIsNoneOfOthers) {
  CaseFigures figures = good();
  figures.bounds = {{"b200", 0.92, "issue"}};
  EXPECT_NE(failures(parse_case_id("tensor_ops/argmax/bf16/n=8"), figures).front().reason, "");
  EXPECT_EQ(failures(parse_case_id("tensor_ops/argmax/f32/n=8"), figures).front().reason, "");
}

TEST(Requirements, AReasonHoldsDownToItsFigure) {
  const auto reason_of = [](const std::string& id, auto change) {
    CaseFigures figures = good();
    change(figures);
    return std::string(failures(parse_case_id(id), figures).at(0).reason);
  };
  const auto issue_of = [&](const std::string& id, double share) {
    return reason_of(id, [=](auto& f) { f.bounds[0] = {"b200", share, "issue"}; });
  };
  const std::string cast = "tensor_ops/cast/f32/to=e4m3,n=1024";
  EXPECT_NE(issue_of(cast, 0.9), "");
  EXPECT_EQ(issue_of(cast, 0.01), "");
  EXPECT_EQ(issue_of(cast, std::numeric_limits<double>::quiet_NaN()), "");
  const std::string sort = "tensor_ops/sort/f32/n=1024";
  EXPECT_NE(reason_of(sort, [](auto& f) { f.moved_ratio = 6; }), "");
  EXPECT_EQ(reason_of(sort, [](auto& f) { f.moved_ratio = 100; }), "");
  EXPECT_NE(reason_of(sort, [](auto& f) { f.wide_load_share = 0; }), "") << "as few as there are";
}

TEST(Requirements, ACaseWithoutABoundIsNotJudged) {
  CaseFigures figures = good();
  figures.bounds.clear();
  const auto found = failures(parse_case_id("tensor_ops/add/f32/n=1024"), figures);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().text, "has a bound on no GPU");
  EXPECT_EQ(found.front().reason, "");
}

TEST(Requirements, TheNarrowSideOfACastMayHaveNarrowAccesses) {
  CaseFigures figures = good();
  figures.wide_load_share = 0;
  EXPECT_TRUE(failures(parse_case_id("tensor_ops/cast/u8/to=f32,n=1024"), figures).empty());
  EXPECT_EQ(failures(parse_case_id("tensor_ops/cast/f32/to=u8,n=1024"), figures).size(), 1U);
}

}  // namespace
}  // namespace assay::kernel_counts
