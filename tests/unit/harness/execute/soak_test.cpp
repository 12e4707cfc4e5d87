// Soaks on the CPU, on simulated devices, whose memory the host cannot read, and on faulty ones.
#include "harness/execute/soak.h"

#include <gtest/gtest.h>

#include "harness/input/guarded_tensor.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::string product = "linear/f32/batch=32,in=48,out=64,bias=0,act=none";
const std::string copy = "limits/stream_copy/f64/n=4096";
const std::string link = "transfers/device_memcpy/u8/from=pinned,to=device,bytes=4096,by=engine";
constexpr double short_s = 0.02;

PlannedTrial soaking(const std::string& id, const DeviceId& device, std::int64_t interval = 1) {
  PlannedTrial trial = planned(id, {device});
  trial.repeat = interval;
  trial.soak_s = short_s;
  return trial;
}

TEST_F(Engines, ASoakComparesAllThatItLaunches) {
  for (const DeviceId& device : {DeviceId{"cpu", 0}, DeviceId{"sim", 1}}) {
    for (const std::string& id : {product, copy, link}) {
      if (id == link && device.backend == "cpu") continue;
      const Result result = engine_.execute(soaking(id, device), [] {});
      ASSERT_EQ(result.record.status, Status::pass) << id << result.record.reason;
      const SoakWork& work = result.soak.value();
      EXPECT_GT(work.launches, 0) << id;
      EXPECT_EQ(work.wrong_elements, 0) << id;
      EXPECT_EQ(work.first_wrong, "") << id;
      const auto launches = static_cast<double>(work.launches);
      EXPECT_EQ(work.products, id == product ? launches * 32 * 48 * 64 : 0) << id;
      EXPECT_EQ(work.copied_bytes, id == product ? 0 : launches * (id == copy ? 32768 : 4096));
      EXPECT_GT(work.launch_s, 0);
      EXPECT_GE(work.wall_s, work.launch_s);
      EXPECT_GE(work.wall_s, short_s);
    }
  }
}

TEST_F(Engines, ASoakStaysOpenForItsNextInterval) {
  const Result first = engine_.execute(soaking(product, {"sim", 0}, 1), [] {});
  const Result second = engine_.execute(soaking(product, {"sim", 0}, 2), [] {});
  EXPECT_EQ(first.record.repeat, 1);
  EXPECT_EQ(second.record.repeat, 2);
  EXPECT_EQ(second.record.status, Status::pass);
  EXPECT_EQ(second.record.elements, first.record.elements) << "verified once";
  EXPECT_EQ(second.record.oracle, first.record.oracle);
  EXPECT_EQ(second.references.computed, 0);
}

TEST_F(Engines, OnlyProductsAndCopiesOfOneDeviceCanSoak) {
  for (const std::string& id : {product, copy, link}) {
    EXPECT_TRUE(can_soak(parse_case_id(id).op)) << id;
  }
  for (const char* id :
       {"tensor_ops/exp/f32/n=1000", "limits/stream_write/f64/n=1000",
        "allreduce/f32/reduce=sum,ranks=2,count=1003",
        "transfers/device_memcpy/u8/from=pinned,to=device,bytes=4096,by=engine,ways=both"}) {
    try {
      EXPECT_FALSE(can_soak(parse_case_id(id).op)) << id;
    } catch (const std::exception&) {
      ADD_FAILURE() << id << " is no case";
    }
  }
  const Record record = execute(soaking("tensor_ops/exp/f32/n=1000", {"cpu", 0}));
  EXPECT_EQ(record.status, Status::error) << "never a pass";
}

TEST(Soak, CatchesWhatIsWrongInEvery1000thLaunch) {
  Backends backends;
  backends.add(sim::make_backend(1, {sim::parse_fault("every_thousandth,op=linear")}));
  Engine engine(backends, {});
  PlannedTrial trial = soaking("linear/f32/batch=4,in=4,out=16,bias=0,act=none", {"sim", 0});
  Result result;
  // Counts launches, not intervals: on a busy machine an interval may hold but one.
  for (std::int64_t launches = 0; launches < 3000 && result.record.status != Status::fail;) {
    result = engine.execute(trial, [] {});
    ASSERT_TRUE(result.soak && result.soak->launches > 0) << result.record.reason;
    launches += result.soak->launches;
  }
  ASSERT_EQ(result.record.status, Status::fail) << result.record.reason;
  EXPECT_EQ(result.record.caught_by, Check::soak);
  const SoakWork& work = result.soak.value();
  EXPECT_GE(work.wrong_elements, 1);
  EXPECT_EQ(work.wrong_elements, work.wrong_comparisons) << "a bit of one element each time";
  EXPECT_NE(work.first_wrong.find("[0] expected 0x"), std::string::npos) << work.first_wrong;
  EXPECT_GT(work.products, 0) << "it went on";
}

enum class Break {
  nothing,
  idle,              // launches of a soak do nothing from the third on
  input,             // the third one flips a bit of its input, once
  blind_comparison,  // whatever is compared is equal
  idle_comparison,   // comparing does nothing
  late_comparison,   // nor does the second comparison, after the only launch of its interval
};

class BrokenKernel final : public Kernel {
 public:
  BrokenKernel(std::unique_ptr<Kernel> real, Device& device, Break how, bool soaks,
               const OpInstance& op, Binding binding)
      : real_(std::move(real)),
        device_(device),
        how_(how),
        soaks_(soaks),
        op_(op),
        binding_(std::move(binding)) {}
  std::string implementation() const override { return "broken"; }
  void launch() override {
    ++launches_;
    const bool compares = op_.op->name == "equal";
    if (compares && how_ == Break::idle_comparison) return;
    if (compares && how_ == Break::late_comparison && launches_ == 2) return;
    if (compares && how_ == Break::blind_comparison) {
      device_.fill(binding_.outputs[0], std::byte{1}, op_.signature.outputs[0].bytes());
      return;
    }
    if (soaks_ && how_ == Break::idle && launches_ >= 3) return;
    real_->launch();
    if (soaks_ && how_ == Break::input && launches_ == 3) {
      std::byte byte{};
      device_.download(&byte, binding_.inputs[0], 1);
      byte ^= std::byte{0x80};
      device_.upload(const_cast<void*>(binding_.inputs[0]), &byte, 1);
    }
  }

 private:
  std::unique_ptr<Kernel> real_;
  Device& device_;
  Break how_;
  bool soaks_;
  OpInstance op_;
  Binding binding_;
  int launches_ = 0;
};

class BrokenDevice final : public ForwardingDevice {
 public:
  BrokenDevice(std::unique_ptr<Device> real, Break how)
      : ForwardingDevice(std::move(real)), how_(how) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    const bool is_work = op.op->name == "linear" || op.op->name == "stream_copy";
    prepared_ += is_work ? 1 : 0;
    const bool soaks = is_work && prepared_ > 2;  // the first two are those of the trial's sets
    return std::make_unique<BrokenKernel>(ForwardingDevice::prepare(op, binding), *this, how_,
                                          soaks, op, binding);
  }

 private:
  Break how_;
  int prepared_ = 0;
};

/// Soaks interval by interval until one does not pass, or `intervals` have.
Result soak_broken(Break how, const std::string& id, int intervals = 1) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("broken", sim::make_backend(1), [=](auto real) {
    return std::make_unique<BrokenDevice>(std::move(real), how);
  }));
  Engine engine(backends, {});
  Result result;
  for (int interval = 1; interval <= intervals; ++interval) {
    PlannedTrial trial = soaking(id, {"broken", 0}, interval);
    if (how == Break::late_comparison) trial.soak_s = 1e-9;
    result = engine.execute(trial, [] {});
    if (result.record.status != Status::pass) break;
  }
  if (how != Break::input || result.record.caught_by != Check::soak) return result;
  const Result next = engine.execute(soaking(id, {"broken", 0}, intervals + 1), [] {});
  EXPECT_LE(result.soak->wrong_comparisons + next.soak->wrong_comparisons, 2)
      << "one for each content, not one for each launch: inputs are restored";
  return result;
}

TEST(Soak, DoesNotFlagARightDevice) {
  for (const std::string& id : {product, copy}) {
    const Result result = soak_broken(Break::nothing, id);
    EXPECT_EQ(result.record.status, Status::pass) << result.record.reason;
  }
}

TEST(Soak, NoticesLaunchesThatDoNothing) {
  for (const std::string& id : {product, copy}) {
    const Result result = soak_broken(Break::idle, id, 100);
    EXPECT_EQ(result.record.status, Status::fail) << id;
    EXPECT_GT(result.soak.value().wrong_elements, 1) << id;
    EXPECT_EQ(result.record.caught_by, Check::soak) << id;
  }
}

TEST(Soak, TellsAChangedInputAndRestoresIt) {
  const Result result = soak_broken(Break::input, product, 100);
  EXPECT_EQ(result.record.status, Status::fail);
  // By the next launch, or at the end of the interval if it was the last one.
  EXPECT_NE(result.record.reason.find("input 0 was overwritten"), std::string::npos)
      << result.record.reason;
}

TEST(Soak, DoesNotTrustAComparisonThatSeesNothing) {
  const Result result = soak_broken(Break::blind_comparison, product);
  EXPECT_EQ(result.record.status, Status::fail);
  EXPECT_NE(result.record.reason.find("did not see the bit that was flipped"), std::string::npos)
      << result.record.reason;
  EXPECT_EQ(result.soak.value().products, 0) << "nothing was compared";
}

TEST(Soak, CountsAComparisonThatIsItselfWrong) {
  const Result result = soak_broken(Break::idle_comparison, product);
  EXPECT_EQ(result.record.status, Status::fail);
  EXPECT_NE(result.record.reason.find("that the host does not find"), std::string::npos);
}

TEST(Soak, CountsAComparisonThatErrsAtTheEndOfItsInterval) {
  const Result result = soak_broken(Break::late_comparison, product);
  EXPECT_EQ(result.record.status, Status::fail);
  EXPECT_EQ(result.soak.value().launches, 1);
  EXPECT_EQ(result.soak->wrong_elements, 1);
}

class Comparers : public Engines {
 protected:
  Comparers() : device_(sim::make_backend(1)->open(0)), stream_(device_->create_stream()) {}
  input::GuardedTensor tensor(std::int64_t bytes) {
    return {*device_, TensorSpec{.dtype = DType::u8, .shape = {bytes}}};
  }
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(Comparers, FindAnyFlippedBit) {
  constexpr std::int64_t bytes = 1024;
  input::GuardedTensor a = tensor(bytes);
  input::GuardedTensor b = tensor(bytes);
  a.poison(std::byte{0x7f});
  b.poison(std::byte{0x7f});
  const auto comparer = BitComparer::make(*device_, *stream_, a, b);
  ASSERT_NE(comparer, nullptr);
  EXPECT_TRUE(comparer->equal());
  for (const std::size_t at : {std::size_t{0}, std::size_t{511}, std::size_t{1023}}) {
    for (int bit = 0; bit < 8; ++bit) {
      const std::byte flipped = std::byte{0x7f} ^ (std::byte{1} << bit);
      a.replace(at, std::span(&flipped, 1));
      EXPECT_FALSE(comparer->equal()) << at << " " << bit;
    }
    constexpr std::byte right{0x7f};
    a.replace(at, std::span(&right, 1));
    EXPECT_TRUE(comparer->equal());
  }
}

TEST_F(Comparers, LeaveOddSizesToTheHost) {
  for (const std::int64_t bytes : {8, 63, 65, 1000}) {
    const input::GuardedTensor a = tensor(bytes);
    const input::GuardedTensor b = tensor(bytes);
    EXPECT_EQ(BitComparer::make(*device_, *stream_, a, b), nullptr) << bytes;
  }
}

}  // namespace
}  // namespace assay
