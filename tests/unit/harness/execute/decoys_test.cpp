// What is laid into outputs before timed launches.
#include "harness/execute/decoys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/sim/backend.h"
#include "tests/unit/timed_case.h"

namespace assay {
namespace {

constexpr std::byte poison{0xa5};

std::vector<bool> within(const ElementRuns& runs, std::int64_t elements) {
  std::vector<bool> covered(static_cast<std::size_t>(elements));
  for (const std::int64_t first : runs.first) {
    for (std::int64_t i = first; i < first + runs.length; ++i) {
      covered.at(static_cast<std::size_t>(i)) = true;
    }
  }
  return covered;
}

/// Elements of an output, as numbers of their bits.
std::vector<std::uint64_t> words(std::span<const std::byte> bytes, std::size_t width) {
  std::vector<std::uint64_t> all(bytes.size() / width);
  for (std::size_t i = 0; i < all.size(); ++i) std::memcpy(&all[i], &bytes[i * width], width);
  return all;
}

/// Lays decoys over poison. Demands that the runs have them, and nothing else has.
void expect_laid_in_runs(TimedCase& timed, int rank) {
  std::mt19937_64 random(3);
  Decoys decoys(timed.op, timed.verified, random);
  const std::size_t width = size_bytes(output_dtype(timed.op));
  const std::int64_t elements = timed.op.signature.outputs[0].elements();
  arm_for_timing(timed.trial);
  const ElementRuns runs = decoys.lay(timed.trial.tensors());
  ASSERT_FALSE(runs.first.empty());
  const std::vector<bool> covered = within(runs, elements);
  const HostTensor output = timed.output(0, rank);
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const auto element = output.bytes().subspan(i * width, width);
    const bool is_poison = std::ranges::count(element, poison) == std::ssize(element);
    ASSERT_EQ(is_poison, !covered[i]) << timed.op.op->name << " " << i;
  }
  EXPECT_EQ(timed.trial.damage(), std::nullopt);
  EXPECT_EQ(timed.trial.changed_input(timed.rotation->contents()), std::nullopt);
}

TEST(ElementRuns, LieWithinTheTensor) {
  std::mt19937_64 random(1);
  for (const std::int64_t elements : {1, 5, 16, 17, 1000}) {
    const ElementRuns runs = draw_runs(elements, 200, 16, random);
    EXPECT_EQ(runs.length, std::min<std::int64_t>(16, elements));
    ASSERT_EQ(runs.first.size(), 200U);
    for (const std::int64_t first : runs.first) {
      EXPECT_GE(first, 0);
      EXPECT_LE(first + runs.length, elements);
    }
    if (elements > 17) continue;
    EXPECT_EQ(*std::ranges::min_element(runs.first), 0) << "the first element";
    EXPECT_EQ(*std::ranges::max_element(runs.first), elements - runs.length) << "the last one";
  }
  EXPECT_TRUE(draw_runs(0, 5, 16, random).first.empty());
}

TEST(Decoys, LieInRunsAlone) {
  for (const char* id : {"tensor_ops/exp/f32/n=100003", "tensor_ops/exp/bf16/n=5000",
                         "tensor_ops/exp/f64/n=257", "tensor_ops/add/f32/n=3050,cols=61,ld=64"}) {
    for (const bool is_sim : {false, true}) {
      TimedCase timed(id, {.own_inputs = false},
                      is_sim ? sim::make_backend(1) : cpu::make_backend());
      expect_laid_in_runs(timed, 0);
    }
  }
}

TEST(Decoys, CoverSmallOutputsWhole) {
  TimedCase timed("tensor_ops/exp/f32/n=256", {.own_inputs = false});
  std::mt19937_64 random(3);
  const ElementRuns runs = Decoys(timed.op, timed.verified, random).lay(timed.trial.tensors());
  EXPECT_EQ(runs.first, std::vector<std::int64_t>{0});
  EXPECT_EQ(runs.length, 256);
}

TEST(Decoys, LieInTheOutputOfEachRank) {
  TimedCase timed("allreduce/f32/reduce=sum,ranks=3,count=1003,place=out", {.own_inputs = false});
  for (int rank = 0; rank < 3; ++rank) expect_laid_in_runs(timed, rank);
  TimedCase to_one("collectives/reduce/f32/reduce=sum,ranks=3,count=1003,root=1",
                   {.own_inputs = false});
  std::mt19937_64 random(3);
  EXPECT_FALSE(
      Decoys(to_one.op, to_one.verified, random).lay(to_one.trial.tensors()).first.empty());
  EXPECT_EQ(to_one.trial.damage(), std::nullopt);
}

TEST(Decoys, LeaveInputsAloneThatOutputsReplace) {
  TimedCase timed("allreduce/f32/reduce=sum,ranks=2,count=1003,place=in", {.own_inputs = false});
  timed.trial.tensors().restore(timed.contents.front());
  std::mt19937_64 random(3);
  Decoys(timed.op, timed.verified, random).lay(timed.trial.tensors());
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(bytes_of(timed.output(0, static_cast<int>(rank))),
              bytes_of(timed.contents.front()[rank][0]));
  }
}

TEST(Decoys, LookLikeResults) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
    TimedCase timed(fmt::format("tensor_ops/exp/{}/n=200", dtype), {.own_inputs = false});
    std::mt19937_64 random(3);
    Decoys(timed.op, timed.verified, random).lay(timed.trial.tensors());
    const std::size_t width = size_bytes(output_dtype(timed.op));
    const auto laid = words(timed.output(0).bytes(), width);
    const auto right = words(timed.verified[0].bytes(), width);
    const auto kept = std::ranges::count_if(
        laid, [&](std::uint64_t word) { return std::ranges::find(right, word) != right.end(); });
    EXPECT_GE(kept, 60) << dtype << ": half of them are other results";
    EXPECT_LE(kept, 190) << dtype << ": half of them are none";
    const HostTensor output = timed.output(0);
    visit_dtype(output_dtype(timed.op), [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) {
        double least = INFINITY;
        double most = 0;
        for (const T value : timed.verified[0].as<T>()) {
          least = std::min(least, std::abs(widen(value)));
          most = std::max(most, std::abs(widen(value)));
        }
        for (const T value : output.as<T>()) {
          const double size = std::abs(widen(value));
          EXPECT_GE(size, least / 2) << dtype;
          EXPECT_LE(size, most * 2) << dtype << ": no NaN either";
        }
      }
    });
  }
}

TEST(Decoys, OfManyIntegersAreResults) {
  TimedCase timed("tensor_ops/less/f32/n=200", {.own_inputs = false});
  std::mt19937_64 random(3);
  Decoys(timed.op, timed.verified, random).lay(timed.trial.tensors());
  for (const std::uint64_t word : words(timed.output(0).bytes(), 1)) EXPECT_LE(word, 1U);
}

TEST(Decoys, DifferFromTheDonorWhereItIsOneElement) {
  for (const char* id :
       {"tensor_ops/sum/f32/n=1003", "tensor_ops/sum/f64/n=1003", "tensor_ops/sum/bf16/n=1003",
        "tensor_ops/sum/f16/n=1003", "tensor_ops/sum/i32/n=1003", "tensor_ops/sum/i64/n=1003",
        "tensor_ops/argmax/f32/n=1003"}) {
    TimedCase timed(id, {.own_inputs = false});
    std::mt19937_64 random(3);
    Decoys decoys(timed.op, timed.verified, random);
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(decoys.lay(timed.trial.tensors()).length, 1);
      ASSERT_NE(bytes_of(timed.output(0)), bytes_of(timed.verified[0])) << id;
    }
  }
}

TEST(Decoys, AreOthersEachTime) {
  TimedCase timed("tensor_ops/exp/f32/n=100003", {.own_inputs = false});
  std::mt19937_64 random(3);
  Decoys decoys(timed.op, timed.verified, random);
  const ElementRuns first = decoys.lay(timed.trial.tensors());
  const auto laid = bytes_of(timed.output(0));
  const ElementRuns second = decoys.lay(timed.trial.tensors());
  EXPECT_NE(first.first, second.first);
  EXPECT_NE(bytes_of(timed.output(0)), laid);
}

TEST(Decoys, OfEmptyOutputsAreNone) {
  TimedCase timed("tensor_ops/add/f32/n=0", {.own_inputs = false});
  std::mt19937_64 random(3);
  EXPECT_TRUE(Decoys(timed.op, timed.verified, random).lay(timed.trial.tensors()).first.empty());
}

}  // namespace
}  // namespace assay
