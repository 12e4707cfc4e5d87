// Sets of tensors in turns: which are launched, and what is in them.
#include "harness/execute/rotation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/oracle/tolerance.h"
#include "kernels/sim/backend.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/timed_case.h"

namespace assay {
namespace {

constexpr TimedCase::Options shared{.own_inputs = false};
constexpr TimedCase::Options own{.own_inputs = true};

/// Elements that differ.
std::int64_t differences(std::span<const std::byte> a, std::span<const std::byte> b,
                         std::size_t width) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += width) {
    count += std::ranges::equal(a.subspan(at, width), b.subspan(at, width)) ? 0 : 1;
  }
  return count;
}

std::vector<std::vector<std::byte>> inputs_of(const RankInputs& inputs) {
  std::vector<std::vector<std::byte>> all;
  for (const auto& tensors : inputs) {
    for (const HostTensor& tensor : tensors) all.push_back(bytes_of(tensor));
  }
  return all;
}

std::vector<double> numbers(const HostTensor& tensor) {
  std::vector<double> all;
  visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
    for (const T value : tensor.as<T>()) all.push_back(static_cast<double>(widen(value)));
  });
  return all;
}

TEST(Rotation, TakesSetsInTurns) {
  TimedCase add("tensor_ops/add/f32/n=1003", shared);
  ASSERT_EQ(add.trial.sets(), 3U);
  Rotation& rotation = *add.rotation;
  std::vector<std::size_t> launched;
  for (int sample = 0; sample < 4; ++sample) launched.push_back(rotation.next(1).first);
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 2, 0, 1}));
  EXPECT_EQ(rotation.next(2).sets(), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(rotation.next(6).first, 0U) << "whole rounds begin with the first";
  EXPECT_EQ(rotation.last().sets(), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Rotation, OfOneContentBeginsWithTheVerifiedInputs) {
  TimedCase add("tensor_ops/add/f32/n=1003", shared);
  EXPECT_FALSE(add.rotation->has_own_inputs());
  EXPECT_EQ(add.rotation->contents().size(), 1U);
  const int last = static_cast<int>(std::ssize(passes(add.op))) - 1;
  EXPECT_EQ(inputs_of(add.rotation->content(2)), inputs_of(generate_inputs(add.op, last, 1, 1)));
  EXPECT_EQ(add.trial.changed_input(add.rotation->contents()), std::nullopt);
  EXPECT_NE(add.trial.tensors(0).output(0).data(), add.trial.tensors(1).output(0).data());
}

TEST(Rotation, OfOneContentChangesNowAndThenByAShareOfTheTime) {
  TimedCase add("tensor_ops/add/f32/n=1003", shared);
  const auto changes = [&](double reported_s) {
    int count = 0;
    for (int sample = 0; sample < 40; ++sample) {
      const auto before = inputs_of(add.rotation->content(0));
      add.rotation->next(3);
      count += inputs_of(add.rotation->content(0)) == before ? 0 : 1;
      add.rotation->count_sample(reported_s);
    }
    return count;
  };
  EXPECT_EQ(changes(0), 0) << "nothing pays for it";
  EXPECT_GE(changes(10), 30);
  EXPECT_EQ(add.trial.changed_input(add.rotation->contents()), std::nullopt);
}

TEST(Rotation, OfOwnInputsExceedsTheCache) {
  TimedCase add("tensor_ops/add/f32/n=1048576", own);
  const double cache =
      static_cast<double>(add.trial.device().info().last_level_cache_bytes.value_or(0));
  ASSERT_GT(cache, 0);
  EXPECT_TRUE(add.rotation->has_own_inputs());
  EXPECT_GE(static_cast<double>(add.trial.sets()) * 3 * 4 * 1048576, std::min(cache, 64 * 12e6));
  EXPECT_GE(add.trial.sets(), 3U);
  EXPECT_EQ(add.rotation->contents().size(), add.trial.sets());
}

TEST(Rotation, OfSmallTensorsHasNoMoreSetsThanItsLimit) {
  EXPECT_EQ(TimedCase("tensor_ops/add/f32/n=1003", own).trial.sets(), 64U);
}

TEST(Rotation, OfOwnInputsDiffersInEachSetAndFromTheVerifiedOnes) {
  for (const char* id : {"tensor_ops/add/f32/n=1003", "tensor_ops/sort/i32/n=1003",
                         "linear/f32/batch=300,in=64,out=290,bias=1,act=none"}) {
    TimedCase timed(id, own);
    const int last = static_cast<int>(std::ssize(passes(timed.op))) - 1;
    std::set<std::vector<std::byte>> firsts{bytes_of(generate_inputs(timed.op, last, 1, 1)[0][0])};
    for (const RankInputs& content : timed.rotation->contents()) {
      firsts.insert(bytes_of(content[0][0]));
    }
    EXPECT_EQ(firsts.size(), timed.trial.sets() + 1) << id;
  }
}

TEST(Rotation, ChangesEachOwnInputBeforeEachSample) {
  for (const char* id : {"tensor_ops/add/f32/n=610,cols=61,ld=64", "tensor_ops/prod/f32/n=1003",
                         "tensor_ops/gather/f32/rows=100,cols=30,count=50",
                         "linear/f32/batch=300,in=64,out=290,bias=1,act=none"}) {
    TimedCase timed(id, own);
    const auto sets = static_cast<int>(timed.trial.sets());
    int same = 0;
    int tensors = 0;
    for (int sample = 0; sample < 6; ++sample) {
      std::vector<std::vector<std::vector<std::byte>>> before;
      for (const RankInputs& content : timed.rotation->contents()) {
        before.push_back(inputs_of(content));
      }
      timed.rotation->next(sets);
      for (std::size_t set = 0; set < before.size(); ++set) {
        const auto after = inputs_of(timed.rotation->content(set));
        for (std::size_t i = 0; i < after.size(); ++i, ++tensors) {
          same += after[i] == before[set][i] ? 1 : 0;
        }
      }
    }
    EXPECT_LE(same, tensors / 10) << id << ": a place may get what it had";
  }
}

TEST(Rotation, StaysOnTheSetsOfTheLastLaunchesWithFreshInputs) {
  TimedCase add("tensor_ops/add/f32/n=1003", own);
  Rotation& rotation = *add.rotation;
  rotation.next(2);
  const std::vector<std::size_t> sets = rotation.next(3).sets();
  const auto before = inputs_of(rotation.content(sets.front()));
  rotation.stay();
  EXPECT_EQ(rotation.next(3).sets(), sets);
  EXPECT_NE(inputs_of(rotation.content(sets.front())), before);
  EXPECT_NE(rotation.next(3).sets(), sets) << "once";
}

TEST(Rotation, ChangesNoSetThatIsNotLaunched) {
  TimedCase add("tensor_ops/add/f32/n=1003", own);
  const auto before = inputs_of(add.rotation->content(7));
  const Turns turns = add.rotation->next(4);
  ASSERT_EQ(turns.sets(), (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(inputs_of(add.rotation->content(7)), before);
}

TEST(Rotation, KnowsWhatTheDeviceHolds) {
  // Rows with gaps, drawn scales, indices, products, and ranks.
  for (const char* id :
       {"tensor_ops/add/f32/n=610,cols=61,ld=64", "tensor_ops/sum/bf16/n=100003",
        "tensor_ops/reduce_max/f16/n=4099", "tensor_ops/gather/f32/rows=100,cols=30,count=50",
        "tensor_ops/softmax/f32/rows=16,cols=103",
        "linear/f32/batch=300,in=64,out=290,bias=1,act=none",
        "allreduce/f32/reduce=sum,ranks=2,count=1003,place=out"}) {
    for (const TimedCase::Options& options : {own, shared}) {
      TimedCase timed(id, options);
      for (int sample = 0; sample < 60; ++sample) {
        timed.rotation->next(static_cast<std::int64_t>(timed.trial.sets()));
        timed.rotation->count_sample(sample % 3 == 0 ? 1 : 1e-6);
      }
      EXPECT_EQ(timed.trial.changed_input(timed.rotation->contents()), std::nullopt) << id;
      EXPECT_EQ(timed.trial.damage(), std::nullopt) << id;
    }
  }
}

TEST(Rotation, KnowsWhatASimulatedDeviceHolds) {
  TimedCase add("tensor_ops/add/f32/n=610,cols=61,ld=64", own, sim::make_backend(1));
  for (int sample = 0; sample < 40; ++sample) add.rotation->next(3);
  EXPECT_EQ(add.trial.changed_input(add.rotation->contents()), std::nullopt);
  EXPECT_EQ(add.trial.damage(), std::nullopt);
}

TEST(Rotation, RestoresInputsThatOutputsReplace) {
  TimedCase in_place("allreduce/f32/reduce=sum,ranks=2,count=1003,place=in", own);
  EXPECT_FALSE(in_place.rotation->has_own_inputs());
  EXPECT_EQ(in_place.trial.sets(), 1U);
  for (int sample = 0; sample < 20; ++sample) {
    in_place.rotation->next(1);
    for (int rank = 0; rank < 2; ++rank) {
      ASSERT_EQ(bytes_of(in_place.output(0, rank)),
                bytes_of(in_place.rotation->content(0)[static_cast<std::size_t>(rank)][0]));
    }
    in_place.trial.time_s(1);
    in_place.judge_whole(0);
    in_place.rotation->count_sample(1);
  }
}

TEST(Rotation, DrawsProductsAnewAndNeverPeriodic) {
  TimedCase product("linear/f32/batch=300,in=64,out=290,bias=1,act=none", own);
  for (int sample = 0; sample < 5; ++sample) {
    const RankInputs& content = product.rotation->content(1);
    const auto before = inputs_of(content);
    product.rotation->next(static_cast<std::int64_t>(product.trial.sets()));
    for (std::size_t input = 0; input < 2; ++input) {
      const auto now = content[0][input].bytes();
      EXPECT_GT(differences(before[input], now, 4), std::ssize(now) / 4 / 2) << "new as a whole";
      std::set<std::vector<std::byte>> rows;
      for (std::size_t at = 0; at < now.size(); at += 64 * 4) {
        rows.insert({now.begin() + static_cast<std::ptrdiff_t>(at),
                     now.begin() + static_cast<std::ptrdiff_t>(at) + 64 * 4});
      }
      EXPECT_EQ(rows.size(), input == 0 ? 300U : 290U) << "sample " << sample;
    }
  }
}

TEST(Rotation, HasNoPeriodicProductAmongSharedInputs) {
  TimedCase product("linear/f32/batch=300,in=64,out=290,bias=0,act=none", shared);
  const auto x = product.rotation->content(0)[0][0].bytes();
  std::set<std::vector<std::byte>> rows;
  for (std::size_t at = 0; at < x.size(); at += 64 * 4) {
    rows.insert({x.begin() + static_cast<std::ptrdiff_t>(at),
                 x.begin() + static_cast<std::ptrdiff_t>(at) + 64 * 4});
  }
  EXPECT_EQ(rows.size(), 300U);
  EXPECT_EQ(product.trial.changed_input(product.rotation->contents()), std::nullopt);
}

TEST(Rotation, DrawsAnewWhatEachOutputDependsOnWhole) {
  for (const char* id : {"tensor_ops/sort/f32/n=20003", "tensor_ops/scan/f32/n=20003",
                         "tensor_ops/softmax/f32/rows=100,cols=203"}) {
    TimedCase timed(id, own);
    const auto before = inputs_of(timed.rotation->content(1));
    timed.rotation->next(static_cast<std::int64_t>(timed.trial.sets()));
    EXPECT_GT(differences(before[0], timed.rotation->content(1)[0][0].bytes(), 4), 10000) << id;
  }
}

TEST(Rotation, ChangesRunsAllOverWhereWorkIsMemory) {
  TimedCase add("tensor_ops/add/f32/n=1048576", own);
  for (int sample = 0; sample < 3; ++sample) {
    const auto before = inputs_of(add.rotation->content(1));
    add.rotation->next(static_cast<std::int64_t>(add.trial.sets()));
    for (std::size_t input = 0; input < 2; ++input) {
      const auto now = add.rotation->content(1)[0][input].bytes();
      const std::int64_t changed = differences(before[input], now, 4);
      EXPECT_GT(changed, 1000);
      EXPECT_LE(changed, 512 * 16);
      // No part of a sixteenth stays as it was.
      for (std::size_t part = 0; part < 16; ++part) {
        const std::size_t bytes = now.size() / 16;
        EXPECT_GT(
            differences(std::span<const std::byte>(before[input]).subspan(part * bytes, bytes),
                        now.subspan(part * bytes, bytes), 4),
            0);
      }
    }
    const auto runs = add.rotation->changed_runs(1);
    EXPECT_EQ(std::ssize(runs), 2 * 512) << "of both inputs";
  }
}

TEST(Rotation, ChangedRunsAreThoseOfTheLastChange) {
  TimedCase add("tensor_ops/add/f32/n=100003", own);
  const auto before = inputs_of(add.rotation->content(1));
  add.rotation->next(static_cast<std::int64_t>(add.trial.sets()));
  std::vector<bool> may_differ(100003);
  for (const std::int64_t place : add.rotation->changed_runs(1)) {
    for (std::int64_t i = place; i < place + 16; ++i)
      may_differ[static_cast<std::size_t>(i)] = true;
  }
  const auto now = inputs_of(add.rotation->content(1));
  for (std::size_t i = 0; i < may_differ.size(); ++i) {
    if (may_differ[i]) continue;
    for (std::size_t input = 0; input < 2; ++input) {
      ASSERT_TRUE(std::equal(&before[input][4 * i], &before[input][4 * i] + 4, &now[input][4 * i]));
    }
  }
}

/// Number of samples after which a reduction's result differs from the one before, out of 40.
int changed_results(const std::string& id) {
  TimedCase timed(id, own);
  // Its set must have real data.
  std::size_t set = 1;
  while (timed.rotation->pass_of(set) != std::ssize(passes(timed.op)) - 1) ++set;
  int changed = 0;
  std::vector<std::byte> last;
  for (int sample = 0; sample < 40; ++sample) {
    timed.rotation->next(static_cast<std::int64_t>(timed.trial.sets()));
    timed.trial.time_s(1, false, set);
    timed.judge_whole(set);
    changed += bytes_of(timed.output(set)) == last ? 0 : 1;
    last = bytes_of(timed.output(set));
  }
  return changed;
}

TEST(Rotation, MovesANeedleThatNoReductionCanOverlook) {
  for (const char* name : {"sum", "mean", "norm2", "dot"}) {
    for (const char* dtype : {"f32", "f64"}) {
      const std::string id = fmt::format("tensor_ops/{}/{}/n=262147", name, dtype);
      EXPECT_GE(changed_results(id), 38) << id;
    }
  }
  // Half of the needles lie at the other end.
  for (const char* name : {"reduce_max", "reduce_min", "argmax"}) {
    for (const char* dtype : {"f32", "bf16", "i32"}) {
      const std::string id = fmt::format("tensor_ops/{}/{}/n=65536", name, dtype);
      EXPECT_GE(changed_results(id), 12) << id;
    }
  }
  EXPECT_GE(changed_results("tensor_ops/prod/f32/n=262147"), 38);
}

TEST(Rotation, TakesTheLastNeedleAway) {
  TimedCase sum("tensor_ops/sum/f32/n=262147", own);
  const auto set = static_cast<std::size_t>(sum.rotation->pass_of(0) == 0 ? 1 : 0);
  const auto beyond = [&] {
    const std::vector<double> x = numbers(sum.rotation->content(set)[0][0]);
    return std::ranges::count_if(x, [](double value) { return std::abs(value) > 1e3; });
  };
  EXPECT_EQ(beyond(), 0);
  for (int sample = 0; sample < 30; ++sample) {
    sum.rotation->next(static_cast<std::int64_t>(sum.trial.sets()));
    // A copied place may have held it.
    ASSERT_GE(beyond(), 1);
    ASSERT_LE(beyond(), 2);
  }
}

bool has_exact_data(const TimedCase& timed, std::size_t set) {
  const auto pass = static_cast<std::size_t>(timed.rotation->pass_of(set));
  return oracle::tolerance(passes(timed.op)[pass].rule, timed.op, timed.trial.math_mode()).exact;
}

TEST(Rotation, GivesOneSetOfSumsExactData) {
  for (const char* id :
       {"tensor_ops/sum/f32/n=1003", "tensor_ops/dot/f16/n=1003", "tensor_ops/prod/f32/n=1003"}) {
    TimedCase timed(id, own);
    std::size_t exact = 0;
    for (std::size_t set = 0; set < timed.trial.sets(); ++set) {
      exact += has_exact_data(timed, set) ? 1 : 0;
    }
    EXPECT_EQ(exact, 1U) << id;
  }
}

TEST(Rotation, GivesNoSetTheSameNumberEverywhere) {
  for (const char* id : {"tensor_ops/norm2/f32/n=1003", "tensor_ops/logsumexp/f32/n=1003",
                         "tensor_ops/norm2_axis/bf16/outer=16,n=64,inner=1"}) {
    TimedCase timed(id, own);
    for (std::size_t set = 0; set < timed.trial.sets(); ++set)
      EXPECT_FALSE(has_exact_data(timed, set)) << id << ": its only exact data overflow";
  }
}

TEST(Rotation, TakesExactDataForAProductNowAndThen) {
  TimedCase product("linear/f32/batch=300,in=64,out=290,bias=1,act=none", own);
  int exact = 0;
  for (int sample = 0; sample < 100; ++sample) {
    for (const std::size_t set : product.rotation->next(3).sets()) {
      exact += has_exact_data(product, set) ? 1 : 0;
    }
  }
  EXPECT_GE(exact, 15) << "one in eight";
  EXPECT_LE(exact, 70);
}

/// Launches and judges sets many times, whole.
std::string accused(const std::string& id, int samples = 200) {
  TimedCase timed(id, {.secret = 5, .own_inputs = true});
  const auto sets = static_cast<std::int64_t>(timed.trial.sets());
  return wrong_by([&] {
    for (int sample = 0; sample < samples; ++sample) {
      const Turns& turns = timed.rotation->next(std::min<std::int64_t>(sets, 3));
      timed.trial.time_s(turns.launches, false, turns.first);
      for (const std::size_t set : turns.sets()) timed.judge_whole(set);
      timed.rotation->count_sample(sample % 5 == 0 ? 1e-2 : 1e-6);
    }
  });
}

TEST(Rotation, NeverTurnsARightReductionWrong) {
  for (const char* name : {"sum", "prod", "dot", "norm2", "reduce_max", "argmax", "mean"}) {
    for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
      for (const auto& [n, samples] : {std::pair{7, 200}, {1003, 200}, {40009, 20}}) {
        const std::string id = fmt::format("tensor_ops/{}/{}/n={}", name, dtype, n);
        EXPECT_EQ(accused(id, samples), "") << id;
      }
    }
  }
}

TEST(Rotation, NeverTurnsAnotherRightOpWrong) {
  for (const char* id : {"linear/f32/batch=33,in=64,out=29,bias=1,act=none",
                         "linear/bf16/batch=33,in=64,out=29,bias=1,act=none",
                         "linear/bf16/batch=33,in=64,out=29,bias=1,act=gelu",
                         "linear/i8/batch=33,in=64,out=29,bias=1,act=relu",
                         "tensor_ops/batched_matmul/f32/batch=3,m=5,n=7,k=37",
                         "tensor_ops/batched_matmul/f16/batch=3,m=5,n=7,k=37",
                         "tensor_ops/softmax/f32/rows=16,cols=103",
                         "tensor_ops/softmax/f16/rows=16,cols=103",
                         "tensor_ops/layernorm/f32/rows=16,cols=103",
                         "tensor_ops/sort/f32/n=1003",
                         "tensor_ops/sort/i64/n=1003",
                         "tensor_ops/scan/f32/n=1003",
                         "tensor_ops/gather/f32/rows=100,cols=30,count=50",
                         "tensor_ops/cast/f32/n=1003,to=bf16",
                         "tensor_ops/cast/f64/n=1003,to=e4m3",
                         "tensor_ops/cast/f32/n=1003,to=i32",
                         "tensor_ops/reduce_min/i32/n=1003",
                         "tensor_ops/sum/i32/n=1003",
                         "tensor_ops/exp/f32/n=1003",
                         "tensor_ops/div/f32/n=1003",
                         "tensor_ops/sqrt/f64/n=1003",
                         "tensor_ops/add/u8/n=1003",
                         "views/add/f32/n=1891,cols=61,view=expanded",
                         "views/sum_axis/f32/outer=1,n=1003,inner=4,view=expanded_columns"}) {
    EXPECT_EQ(accused(id), "") << id;
  }
}

TEST(Rotation, DrawsBySecret) {
  const auto inputs = [](const char* id, std::uint64_t secret) {
    TimedCase timed(id, {.secret = secret, .own_inputs = true});
    for (int sample = 0; sample < 3; ++sample) timed.rotation->next(2);
    std::vector<std::vector<std::byte>> all;
    for (const RankInputs& content : timed.rotation->contents()) {
      for (auto& bytes : inputs_of(content)) all.push_back(std::move(bytes));
    }
    return all;
  };
  for (const char* id :
       {"tensor_ops/add/f32/n=1003", "linear/f32/batch=33,in=64,out=29,bias=1,act=none"}) {
    const auto first = inputs(id, 1);
    EXPECT_EQ(inputs(id, 1), first) << id;
    const auto second = inputs(id, 2);
    ASSERT_EQ(second.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]) << id << i;
  }
}

TEST(Rotation, OfRanksSharesTheirInputs) {
  TimedCase ranks("allreduce/f32/reduce=sum,ranks=2,count=100,place=out", shared);
  EXPECT_FALSE(ranks.rotation->has_own_inputs());
  EXPECT_EQ(ranks.trial.sets(), 3U);
}

TEST(Rotation, OfAnOpWithoutInputsGoesOn) {
  TimedCase fill("tensor_ops/fill/f32/n=1003", own);
  for (int sample = 0; sample < 5; ++sample) fill.sample();
  fill.finish();
}

TEST(Turns, NameASetOnceHoweverOftenItIsLaunched) {
  EXPECT_EQ((Turns{.first = 2, .launches = 2, .of = 3}).sets(), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ((Turns{.first = 0, .launches = 7, .of = 3}).sets().size(), 3U);
  EXPECT_EQ(Turns{}.sets(), std::vector<std::size_t>{0});
}

TEST_F(Engines, ATimedRowSaysHowManySetsTookTurns) {
  PlannedTrial trial = planned("tensor_ops/add/f32/n=1003", {{"sim", 0}});
  EXPECT_EQ(execute(trial).input_sets, std::nullopt);
  trial.timing = batch_timing;
  EXPECT_EQ(execute(trial).input_sets, 3);
}

TEST(TimedRows, NameTheSeedOfTheirInputs) {
  Backends backends;
  backends.add(cpu::make_backend());
  PlannedTrial trial = planned("tensor_ops/add/f32/n=1003", {{"cpu", 0}});
  trial.timing = batch_timing;
  Engine drawn(backends, {.cap_s = 0.02});
  const std::string first = drawn.execute(trial, [] {}).record.timed_seed;
  const std::string second = drawn.execute(trial, [] {}).record.timed_seed;
  EXPECT_TRUE(first.starts_with("0x")) << first;
  EXPECT_NE(first, second);
  Engine given(backends, {.cap_s = 0.02, .timed_seed = 0xabcU});
  EXPECT_EQ(given.execute(trial, [] {}).record.timed_seed, "0xabc");
  trial.timing = "";
  EXPECT_EQ(given.execute(trial, [] {}).record.timed_seed, "") << "nothing was timed";
  PlannedTrial steps = planned("placement/square_123/i64/numbers=3", {{"cpu", 0}});
  steps.timing = batch_timing;
  const Record record = given.execute(steps, [] {}).record;
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_EQ(record.timed_seed, "") << "no inputs are drawn";
}

TEST(OwnInputs, AreJudgedInEachSet) {
  Backends backends;
  backends.add(cpu::make_backend());
  Engine engine(backends, {{.fresh_inputs = true}, 0.05});
  for (const char* id : {"tensor_ops/softmax/f32/rows=16,cols=1003", "tensor_ops/sort/f32/n=1003",
                         "tensor_ops/gather/f32/rows=100,cols=30,count=50",
                         "linear/bf16/batch=300,in=64,out=290,bias=1,act=gelu"}) {
    PlannedTrial trial = planned(id, {{"cpu", 0}});
    trial.timing = batch_timing;
    const Record record = engine.execute(trial, [] {}).record;
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    EXPECT_GE(record.input_sets.value_or(0), 3) << id;
    EXPECT_LE(record.launches_per_sample, record.input_sets) << "none sees what another saw";
    EXPECT_EQ(record.repeatable, true) << id;
  }
}

}  // namespace
}  // namespace assay
