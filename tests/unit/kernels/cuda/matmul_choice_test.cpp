// Choice of the CUDA backend among algorithms for a product, on candidates that need no GPU.
#include "kernels/cuda/matmul_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace assay::cuda {
namespace {

struct Algorithm {
  double time_s = 1e-3;
  bool is_right = true;
  std::string refusal;
  double loading_s = 0;  // added to the first launch
  bool keeps_nan = true;
};

/// Candidates with a clock that only launches move.
class FakeCandidates final : public Candidates {
 public:
  explicit FakeCandidates(std::vector<Algorithm> all) : all_(std::move(all)) {}
  int count() const override { return static_cast<int>(all_.size()); }
  std::string name(int i) const override { return "algorithm " + std::to_string(i); }
  Launch launch(int i) override {
    EXPECT_FALSE(has_real_data) << "judged on exact data: " << i;
    const Algorithm& own = all_.at(static_cast<std::size_t>(i));
    const bool is_first = std::ranges::find(launched, i) == launched.end();
    const double time_s = own.time_s + (is_first ? own.loading_s : 0);
    launched.push_back(i);
    if (own.refusal.empty()) now_s_ += time_s;
    return {own.refusal, time_s};
  }
  bool was_right() override { return all_.at(static_cast<std::size_t>(launched.back())).is_right; }
  bool keeps_nan(int i) override {
    EXPECT_EQ(launched.back(), i) << "a right one";
    EXPECT_FALSE(has_real_data);
    return all_.at(static_cast<std::size_t>(i)).keeps_nan;
  }
  void load_real_data() override {
    EXPECT_FALSE(has_real_data) << "once";
    has_real_data = true;
    now_s_ += loading_data_s;
  }
  double time_s(int i) override {
    EXPECT_TRUE(all_.at(static_cast<std::size_t>(i)).is_right) << "right before it is timed: " << i;
    EXPECT_TRUE(has_real_data) << i;
    timed.push_back(i);
    now_s_ += timed_launches() * all_.at(static_cast<std::size_t>(i)).time_s;
    return all_.at(static_cast<std::size_t>(i)).time_s;
  }
  int timed_launches() const override { return 15; }
  double now_s() override { return now_s_; }

  std::vector<int> launched;
  std::vector<int> timed;
  bool has_real_data = false;
  double loading_data_s = 0;

 private:
  std::vector<Algorithm> all_;
  double now_s_ = 100;
};

Choice chosen(FakeCandidates& candidates) {
  SearchBudget budget;
  return choose(candidates, budget);
}

TEST(ProductChoice, TakesTheFastestAndKeepsTheLibrarysOrderAmongEquals) {
  FakeCandidates clear({{.time_s = 3e-3}, {.time_s = 2e-3}, {.time_s = 2.5e-3}});
  EXPECT_EQ(chosen(clear).taken, 1);
  FakeCandidates equal({{.time_s = 2e-3}, {.time_s = 1.99e-3}});
  const Choice choice = chosen(equal);
  EXPECT_EQ(choice.taken, 0);
  EXPECT_TRUE(choice.is_right);
  EXPECT_EQ(choice.left_out, "");
}

TEST(ProductChoice, TimesNothingThatIsWrongAndNamesIt) {
  FakeCandidates candidates({{.time_s = 1e-3, .is_right = false},
                             {.refusal = "cuBLAS status 15"},
                             {.time_s = 4e-3},
                             {.time_s = 2e-3, .is_right = false},
                             {.time_s = 3e-3}});
  const Choice choice = chosen(candidates);
  EXPECT_EQ(choice.taken, 4);
  EXPECT_EQ(candidates.timed, (std::vector{2, 4}));
  EXPECT_EQ(choice.wrong, (std::vector<std::string>{"algorithm 0", "algorithm 3"}));
  EXPECT_EQ(choice.left_out,
            "algorithm 0 (wrong on exact data), algorithm 1 (cuBLAS status 15), "
            "algorithm 3 (wrong on exact data)");
}

TEST(ProductChoice, OfWrongOnesTheFirstIsLeftToTheJudge) {
  FakeCandidates candidates(
      {{.refusal = "cuBLAS status 15"}, {.is_right = false}, {.time_s = 1e-6, .is_right = false}});
  const Choice choice = chosen(candidates);
  EXPECT_EQ(choice.taken, 1);
  EXPECT_FALSE(choice.is_right);
  EXPECT_TRUE(candidates.timed.empty());
}

TEST(ProductChoice, OnesThatDropNanAreLeftOutAndNotCalledWrong) {
  FakeCandidates some({{.time_s = 1e-3, .keeps_nan = false}, {.time_s = 3e-3}, {.time_s = 2e-3}});
  const Choice choice = chosen(some);
  EXPECT_EQ(choice.taken, 2);
  EXPECT_TRUE(choice.is_right);
  EXPECT_EQ(some.timed, (std::vector{1, 2}));
  EXPECT_EQ(choice.left_out, "algorithm 0 (drops NaN)");
  EXPECT_TRUE(choice.wrong.empty());
  FakeCandidates all({{.keeps_nan = false}, {.keeps_nan = false}});
  EXPECT_FALSE(chosen(all).is_right) << "another way is taken";
}

TEST(ProductChoice, OfNoneNothingIsTaken) {
  FakeCandidates none({});
  EXPECT_EQ(chosen(none).taken, std::nullopt);
  FakeCandidates refused({{.refusal = "cuBLAS status 15"}});
  const Choice choice = chosen(refused);
  EXPECT_EQ(choice.taken, std::nullopt);
  EXPECT_FALSE(choice.is_right);
}

TEST(ProductChoice, ALongFirstLaunchIsTakenIfItIsRight) {
  FakeCandidates candidates(
      {{.time_s = 0.052, .is_right = false}, {.time_s = 0.052}, {.time_s = 0.01}});
  const Choice choice = chosen(candidates);
  EXPECT_EQ(choice.taken, 1);
  EXPECT_TRUE(choice.is_right);
  EXPECT_EQ(candidates.launched, (std::vector{0, 1, 1})) << "and none behind it";
  EXPECT_TRUE(candidates.timed.empty());
  EXPECT_FALSE(candidates.has_real_data);
}

TEST(ProductChoice, ALongLaunchBehindAShortOneIsNotTaken) {
  FakeCandidates candidates({{.time_s = 5e-3}, {.time_s = 51e-3}, {.time_s = 1e-3}});
  EXPECT_EQ(chosen(candidates).taken, 2);
  EXPECT_EQ(candidates.timed, (std::vector{0, 2}));
}

TEST(ProductChoice, LoadingCodeMakesNoLaunchLong) {
  FakeCandidates candidates(
      {{.time_s = 2e-3, .loading_s = 0.2}, {.time_s = 1e-3, .loading_s = 0.1}});
  EXPECT_EQ(chosen(candidates).taken, 1);
  EXPECT_EQ(candidates.timed, (std::vector{0, 1}));
}

TEST(ProductChoice, ALaunchBeyondTheBudgetIsNotRepeated) {
  FakeCandidates candidates({{.time_s = 3}, {.time_s = 1e-3}});
  EXPECT_EQ(chosen(candidates).taken, 0);
  EXPECT_EQ(candidates.launched, std::vector{0});
}

TEST(ProductChoice, TheOnlyRightOneNeedsNoTime) {
  FakeCandidates candidates({{.is_right = false}, {}, {.refusal = "cuBLAS status 15"}});
  EXPECT_EQ(chosen(candidates).taken, 1);
  EXPECT_TRUE(candidates.timed.empty());
  EXPECT_FALSE(candidates.has_real_data);
}

TEST(ProductChoice, LoadingRealDataCountsAndLeavesTheOrderIfItTakesTheBudget) {
  FakeCandidates candidates({{.time_s = 2e-3}, {.time_s = 1e-3}});
  candidates.loading_data_s = 2;
  SearchBudget budget(1);
  EXPECT_EQ(choose(candidates, budget).taken, 0);
  EXPECT_TRUE(candidates.timed.empty());
  EXPECT_LT(budget.left_s(), 0);
}

TEST(ProductChoice, EndsWithItsBudget) {
  FakeCandidates candidates(std::vector<Algorithm>(8, {.time_s = 49e-3}));
  SearchBudget budget(1);
  const double begin_s = candidates.now_s();
  EXPECT_EQ(choose(candidates, budget).taken, 0);
  EXPECT_TRUE(candidates.timed.empty()) << "15 more launches of the first would not fit";
  EXPECT_EQ(candidates.launched.size(), 8U);
  EXPECT_LT(candidates.now_s() - begin_s, 1 + long_launch_s);
  EXPECT_NEAR(budget.left_s(), 1 - (candidates.now_s() - begin_s), 1e-9);
}

TEST(ProductChoice, TimesAsManyAsItsBudgetHolds) {
  FakeCandidates candidates(std::vector<Algorithm>(8, {.time_s = 20e-3}));
  SearchBudget budget(1);
  const double begin_s = candidates.now_s();
  EXPECT_EQ(choose(candidates, budget).taken, 0);
  EXPECT_EQ(candidates.timed, (std::vector{0, 1})) << "0.16 s of launches, 0.3 s for each";
  EXPECT_LT(candidates.now_s() - begin_s, 1);
  EXPECT_NEAR(budget.left_s(), 1 - (candidates.now_s() - begin_s), 1e-9);
}

TEST(ProductChoice, FirstLaunchesEndWithTheBudgetToo) {
  std::vector<Algorithm> all(8, {.time_s = 45e-3});
  for (Algorithm& one : all) one.loading_s = 0.3;
  FakeCandidates candidates(all);
  EXPECT_EQ(chosen(candidates).taken, 0);
  EXPECT_EQ(candidates.launched, (std::vector{0, 0, 1, 1, 2}))
      << "each twice: the first loads code";
}

TEST(ProductChoice, ProductsOfOneKernelShareABudgetAndEachGetsARightOne) {
  SearchBudget budget(1);
  FakeCandidates first(std::vector<Algorithm>(8, {.time_s = 45e-3}));
  EXPECT_EQ(choose(first, budget).taken, 0);
  budget.spend(1);
  FakeCandidates second({{.is_right = false}, {}, {.time_s = 1e-6}});
  const Choice choice = choose(second, budget);
  EXPECT_EQ(choice.taken, 1);
  EXPECT_TRUE(choice.is_right);
  EXPECT_TRUE(second.timed.empty());
}

// --- Ways ----------------------------------------------------------------------------------------

struct FakeProduct {
  bool right = true;
  std::string why;
  bool is_right() const { return right; }
  std::string left_out() const { return why; }
  std::vector<std::string> wrong() const {
    return right ? std::vector<std::string>{} : std::vector<std::string>{"algorithm 7"};
  }
};

Way<FakeProduct> way(const std::string& name, bool is_right, const std::string& why = "") {
  return {name, [=] { return std::make_unique<FakeProduct>(FakeProduct{is_right, why}); }};
}

Way<FakeProduct> failing(const std::string& name, Failure failure) {
  return {name, [=]() -> std::unique_ptr<FakeProduct> { throw DeviceError(failure, "status 15"); }};
}

TEST(Ways, AreTakenInTheirOrder) {
  Rejected rejected;
  const std::vector ways{way("fused", true), way("own", true)};
  first_right<FakeProduct>(ways, rejected);
  EXPECT_EQ(rejected.text, "");
  EXPECT_TRUE(rejected.wrong.empty());
}

TEST(Ways, ThatAreWrongOrNotSupportedAreNamed) {
  for (const auto& [first, why] :
       {std::pair{way("fused", false, "algorithm 7 (wrong on exact data)"),
                  "fused (algorithm 7 (wrong on exact data))"},
        std::pair{failing("fused", Failure::unsupported), "fused (status 15)"}}) {
    Rejected rejected;
    const std::vector ways{first, way("own", true)};
    EXPECT_TRUE(first_right<FakeProduct>(ways, rejected)->is_right());
    EXPECT_EQ(rejected.text, why);
    EXPECT_EQ(rejected.wrong.size(), why == std::string("fused (status 15)") ? 0U : 1U);
    for (const std::string& algorithm : rejected.wrong) {
      EXPECT_EQ(algorithm, "algorithm 7 with fused");
    }
  }
}

TEST(Ways, TheLastIsTakenAsItIsAndItsErrorIsTheKernels) {
  Rejected rejected;
  const std::vector wrong{way("fused", false), way("own", false)};
  EXPECT_FALSE(first_right<FakeProduct>(wrong, rejected)->is_right());
  const std::vector refused{failing("fused", Failure::unsupported),
                            failing("own", Failure::unsupported)};
  EXPECT_THROW(first_right<FakeProduct>(refused, rejected), DeviceError);
}

TEST(Ways, AnErrorIsNoReasonToTryAnother) {
  Rejected rejected;
  const std::vector ways{failing("fused", Failure::internal), way("own", true)};
  EXPECT_THROW(first_right<FakeProduct>(ways, rejected), DeviceError);
}

}  // namespace
}  // namespace assay::cuda
