// Sets of tensors in turns: which are launched, and what is in them.
#include "harness/execute/rotation.h"

#include <gtest/gtest.h>

#include "harness/input/panel.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

class Rotations : public testing::Test {
 protected:
  /// Makes a trial on the CPU with the inputs of its last pass.
  Rotation& rotate(const std::string& id, bool fresh) {
    rotation_.reset();
    trial_.reset();
    op_ = parse_case_id(id).op;
    device_ = backend_->open(0);
    Device* lane[] = {device_.get()};
    trial_ = std::make_unique<Trial>(op_, *backend_, lane);
    const int last = static_cast<int>(std::ssize(passes(op_))) - 1;
    contents_.clear();
    contents_.push_back(generate_inputs(op_, last, 1, trial_->ranks()));
    trial_->tensors().upload(contents_.front());
    rotation_ = std::make_unique<Rotation>(*trial_, op_, 1, contents_, fresh);
    return *rotation_;
  }
  static std::vector<std::byte> bytes_of(const HostTensor& tensor) {
    return {tensor.bytes().begin(), tensor.bytes().end()};
  }

  OpInstance op_;
  std::unique_ptr<Backend> backend_ = cpu::make_backend();
  std::unique_ptr<Device> device_;
  std::unique_ptr<Trial> trial_;
  std::vector<RankInputs> contents_;
  std::unique_ptr<Rotation> rotation_;
};

TEST_F(Rotations, TakeSetsInTurns) {
  Rotation& rotation = rotate("tensor_ops/add/f32/n=1003", false);
  ASSERT_EQ(trial_->sets(), 3U);
  std::vector<std::size_t> launched;
  for (int sample = 0; sample < 4; ++sample) launched.push_back(rotation.next(1).first);
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 2, 0, 1}));
  EXPECT_EQ(rotation.next(2).sets(), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(rotation.next(6).first, 0U) << "whole rounds begin with the first";
  EXPECT_EQ(rotation.last().sets(), (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(Rotations, HaveTheVerifiedInputsInEachSet) {
  Rotation& rotation = rotate("tensor_ops/add/f32/n=1003", false);
  EXPECT_EQ(rotation.contents().size(), 1U);
  rotation.next(5);
  EXPECT_EQ(trial_->changed_input(rotation.contents()), std::nullopt);
  EXPECT_NE(trial_->tensors(0).output(0).data(), trial_->tensors(1).output(0).data());
}

TEST_F(Rotations, OfFreshInputsExceedTheCache) {
  Rotation& rotation = rotate("tensor_ops/add/f32/n=1048576", true);
  const double cache = static_cast<double>(device_->info().last_level_cache_bytes.value_or(0));
  ASSERT_GT(cache, 0);
  EXPECT_TRUE(rotation.is_fresh());
  EXPECT_GE(static_cast<double>(trial_->sets()) * 3 * 4 * 1048576, std::min(cache, 64 * 12e6));
  EXPECT_GE(trial_->sets(), 3U);
  EXPECT_EQ(rotation.contents().size(), trial_->sets());
  EXPECT_NE(bytes_of(rotation.content(0)[0][0]), bytes_of(rotation.content(1)[0][0]));
}

TEST_F(Rotations, ChangeAPartOfFreshInputsBeforeEachSample) {
  // Rows with gaps, and a product whose rows repeat: the device must hold what the host knows.
  for (const char* id : {"tensor_ops/add/f32/n=610,cols=61,ld=64",
                         "linear/f32/batch=300,in=64,out=290,bias=1,act=none"}) {
    Rotation& rotation = rotate(id, true);
    ASSERT_TRUE(rotation.is_fresh()) << id;
    int changes = 0;
    for (int sample = 0; sample < 30; ++sample) {
      std::vector<std::vector<std::byte>> before;
      for (const HostTensor& tensor : rotation.content(1)[0]) before.push_back(bytes_of(tensor));
      rotation.next(static_cast<std::int64_t>(trial_->sets()));
      for (std::size_t i = 0; i < before.size(); ++i) {
        changes += bytes_of(rotation.content(1)[0][i]) == before[i] ? 0 : 1;
      }
    }
    EXPECT_GE(changes, 15) << id << ": the bias of a product stays, and an element may be its own";
    EXPECT_EQ(trial_->changed_input(rotation.contents()), std::nullopt) << id;
  }
}

TEST_F(Rotations, KeepTheRowsOfAProductPeriodic) {
  Rotation& rotation = rotate("linear/f32/batch=300,in=64,out=290,bias=0,act=none", true);
  for (int sample = 0; sample < 20; ++sample) rotation.next(3);
  const int last = static_cast<int>(std::ssize(passes(op_))) - 1;
  for (int input = 0; input < 2; ++input) {
    const std::int64_t period = input::rows_before_repeat(op_, last, input);
    ASSERT_GT(period, 0);
    const auto x = rotation.content(1)[0][static_cast<std::size_t>(input)].as<float>();
    for (std::size_t i = static_cast<std::size_t>(period) * 64; i < x.size(); ++i) {
      ASSERT_EQ(x[i], x[i - static_cast<std::size_t>(period) * 64]);
    }
  }
}

TEST_F(Rotations, LeaveOpsInPlaceAndRanksAsTheyAre) {
  EXPECT_FALSE(rotate("allreduce/f32/reduce=sum,ranks=2,count=100,place=out", true).is_fresh());
  EXPECT_EQ(trial_->sets(), 3U);
  EXPECT_FALSE(rotate("allreduce/f32/reduce=sum,ranks=2,count=100,place=in", true).is_fresh());
  EXPECT_EQ(trial_->sets(), 1U);
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

TEST(FreshInputs, AreJudgedInEachSet) {
  Backends backends;
  backends.add(cpu::make_backend());
  Engine engine(backends, {.seed = 1, .cap_s = 0.05, .fresh_inputs = true});
  for (const char* id : {"tensor_ops/softmax/f32/rows=16,cols=1003", "tensor_ops/sort/f32/n=1003",
                         "tensor_ops/gather/f32/rows=100,cols=30,count=50",
                         "linear/bf16/batch=300,in=64,out=290,bias=1,act=gelu"}) {
    PlannedTrial trial = planned(id, {{"cpu", 0}});
    trial.timing = batch_timing;
    const Record record = engine.execute(trial, [] {}).record;
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    EXPECT_GE(record.input_sets.value_or(0), 3) << id;
    EXPECT_LE(record.launches_per_sample, record.input_sets) << "none sees what another saw";
  }
}

}  // namespace
}  // namespace assay
