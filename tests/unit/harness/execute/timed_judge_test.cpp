// Judgements of timed launches: devices that are right in the judged launches before them alone.
#include "harness/execute/timed_judge.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>

#include "kernels/device/forwarding.h"
#include "kernels/sim/backend.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/timed_case.h"

namespace assay {
namespace {

/// A launch, as a faulty kernel sees it.
struct OneLaunch {
  std::int64_t number;  // of timed ones, over all sets, from 1 on
  const std::function<void()>& right;
  std::span<std::byte> output;
};
/// Decides what the launches of a device do, once they are timed.
struct Script {
  std::function<void(const OneLaunch&)> act;
  bool is_timed = false;
  std::int64_t launches = 0;
};

class ScriptedKernel final : public Kernel {
 public:
  ScriptedKernel(std::unique_ptr<Kernel> real, Script& script, std::span<std::byte> output)
      : real_(std::move(real)), script_(script), output_(output) {}
  void launch() override {
    if (!script_.is_timed) return real_->launch();
    script_.act({++script_.launches, [this] { real_->launch(); }, output_});
  }
  std::string implementation() const override { return "scripted"; }

 private:
  std::unique_ptr<Kernel> real_;
  Script& script_;
  std::span<std::byte> output_;
};

class ScriptedDevice final : public ForwardingDevice {
 public:
  ScriptedDevice(std::unique_ptr<Device> real, Script& script)
      : ForwardingDevice(std::move(real)), script_(script) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    const std::span output(static_cast<std::byte*>(binding.outputs[0]),
                           static_cast<std::size_t>(op.signature.outputs[0].bytes()));
    return std::make_unique<ScriptedKernel>(ForwardingDevice::prepare(op, binding), script_,
                                            output);
  }

 private:
  Script& script_;
};

/// A case whose timed launches follow a script.
class Scripted {
 public:
  Scripted(const std::string& id, const TimedCase::Options& options,
           std::function<void(const OneLaunch&)> act)
      : script_{.act = std::move(act)},
        timed_(
            id, options,
            std::make_unique<WrappingBackend>("scripted", cpu::make_backend(), [this](auto real) {
              return std::make_unique<ScriptedDevice>(std::move(real), script_);
            })) {
    script_.is_timed = true;
  }
  TimedCase& get() { return timed_; }
  TimedCase* operator->() { return &timed_; }

 private:
  Script script_;
  TimedCase timed_;
};

void spoil(std::span<std::byte> output) {
  for (std::byte& byte : output) byte ^= std::byte{0x40};
}

/// Takes samples until one is accused, and ends the trial. `reported_s` is the time of each.
std::string accusation(TimedCase& timed, int samples, std::int64_t launches = 0,
                       double reported_s = 1e-3) {
  return wrong_by([&] {
    for (int i = 0; i < samples; ++i) timed.sample(launches, reported_s);
    timed.finish();
  });
}

void expect_named(const std::string& reason, const std::string& text = "") {
  EXPECT_TRUE(reason.find("timed_launches: sample ") != std::string::npos &&
              reason.find(" (set ") != std::string::npos && reason.find(text) != std::string::npos)
      << "'" << reason << "'";
}

/// Cases that are judged by elements, by parts, and whole.
constexpr std::array cases{"tensor_ops/add/f32/n=50021",
                           "tensor_ops/add/f32/n=1003",
                           "tensor_ops/softmax/f32/rows=64,cols=203",
                           "linear/f32/batch=70,in=64,out=130,bias=1,act=none",
                           "tensor_ops/sum/f32/n=50021",
                           "tensor_ops/argmax/f32/n=50021",
                           "tensor_ops/sort/f32/n=50021"};

TEST(TimedJudge, NeverAccusesARightDevice) {
  for (const char* id : cases) {
    for (const bool own_inputs : {false, true}) {
      for (const bool is_sim : {false, true}) {
        TimedCase timed(id, {.own_inputs = own_inputs},
                        is_sim ? sim::make_backend(1) : cpu::make_backend());
        EXPECT_EQ(accusation(timed, 30, 3), "") << id;
        EXPECT_EQ(timed.timed->repeatable(), true) << id;
      }
    }
  }
}

TEST(TimedJudge, JudgesRowsOfAllSetsInTheEnd) {
  for (std::uint64_t secret = 1; secret <= 20; ++secret) {
    std::int64_t sets = 0;
    Scripted timed("tensor_ops/softmax/f32/rows=64,cols=20", {.secret = secret},
                   [&](const OneLaunch& l) { sets++ == 1 ? spoil(l.output) : l.right(); });
    ASSERT_GT(timed->trial.sets(), 2U);
    timed->sample(0, 0);  // which leaves no time to judge it
    expect_named(wrong_by([&] { timed->finish(); }), "(set 1, ");
  }
}

TEST(TimedJudge, NeverAccusesARightDeviceInOtherDtypesShapesAndRanks) {
  for (const char* id :
       {"tensor_ops/add/f32/n=3050,cols=61,ld=64", "tensor_ops/exp/f16/n=5003",
        "tensor_ops/less/f32/n=5003", "tensor_ops/cast/f32/n=5003,to=bf16",
        "tensor_ops/gather/f32/rows=100,cols=30,count=50", "tensor_ops/prod/bf16/n=5003",
        "tensor_ops/scan/f32/n=5003", "tensor_ops/batched_matmul/f16/batch=9,m=13,n=14,k=15",
        "linear/bf16/batch=70,in=64,out=130,bias=1,act=gelu",
        "linear/i8/batch=70,in=64,out=130,bias=1,act=relu",
        "linear/linear_stack/f32/batch=70,in=32,width=40,layers=3,bias=1,act=relu",
        "linear/f32/batch=300,in=512,out=300,bias=1,act=none",
        "linear/bf16/batch=300,in=512,out=300,bias=0,act=none",
        "allreduce/f32/reduce=sum,ranks=3,count=5003,place=out",
        "allreduce/f32/reduce=sum,ranks=3,count=5003,place=in", "tensor_ops/add/f32/n=1",
        "tensor_ops/fill/f32/n=5003"}) {
    TimedCase timed(id, {});
    EXPECT_EQ(accusation(timed, 40, timed.trial.in_place() ? 1 : 3), "") << id;
    EXPECT_EQ(timed.timed->repeatable(), true) << id;
  }
}

TEST(TimedJudge, HasNothingToJudgeInEmptyOutputs) {
  TimedCase timed("tensor_ops/add/f32/n=0", {});
  EXPECT_EQ(accusation(timed, 5), "");
  EXPECT_EQ(timed.timed->repeatable(), std::nullopt);
}

TEST(TimedJudge, FindsWorkThatIsWrongOnlyInTimedLaunches) {
  for (const char* id : cases) {
    for (const bool own_inputs : {false, true}) {
      Scripted timed(id, {.own_inputs = own_inputs}, [](const OneLaunch& launch) {
        launch.right();
        spoil(launch.output);
      });
      expect_named(accusation(timed.get(), 1, 0, 1), "sample 1 ");
    }
  }
}

TEST(TimedJudge, FindsLaunchesThatDoNothing) {
  for (const char* id : cases) {
    for (const bool own_inputs : {false, true}) {
      Scripted timed(id, {.own_inputs = own_inputs}, [](const OneLaunch&) {});
      expect_named(accusation(timed.get(), 20));
    }
  }
}

TEST(TimedJudge, FindsLaunchesThatDoNothingOnceTheirOutputsAreRight) {
  for (const char* id : {"tensor_ops/add/f32/n=50021", "tensor_ops/add/f32/n=1003",
                         "tensor_ops/softmax/f32/rows=64,cols=203",
                         "linear/f32/batch=70,in=64,out=130,bias=1,act=none"}) {
    // Computes each set once, and again where three words of its output have changed.
    std::map<std::byte*, std::array<std::byte, 3>> seen;
    Scripted timed(id, {}, [&](const OneLaunch& launch) {
      const std::span<std::byte> y = launch.output;
      const auto now = [&] { return std::array{y.front(), y[y.size() / 2], y.back()}; };
      const auto known = seen.find(y.data());
      if (known != seen.end() && known->second == now()) return;
      launch.right();
      seen[y.data()] = now();
    });
    expect_named(accusation(timed.get(), 200, 3, 1));
  }
}

TEST(TimedJudge, FindsEveryOtherLaunchWrong) {
  for (const char* id : cases) {
    for (const std::int64_t parity : {0, 1}) {
      Scripted timed(id, {}, [=](const OneLaunch& launch) {
        launch.right();
        if (launch.number % 2 == parity) spoil(launch.output);
      });
      expect_named(accusation(timed.get(), 20, 3));
    }
  }
}

TEST(TimedJudge, FindsAFewWrongPlacesInTheLongRun) {
  Scripted timed("tensor_ops/add/f32/n=50021", {}, [](const OneLaunch& launch) {
    // A hundredth of the output stays as it is.
    const std::span<std::byte> part = launch.output.subspan(4 * 20000, 4 * 500);
    const std::vector<std::byte> before(part.begin(), part.end());
    launch.right();
    std::ranges::copy(before, part.begin());
  });
  expect_named(accusation(timed.get(), 400, 3, 1));
}

TEST(TimedJudge, JudgesSamplesAlsoBeforeTheLast) {
  Scripted timed("tensor_ops/add/f32/n=1003", {.own_inputs = false}, [](const OneLaunch& launch) {
    launch.right();
    // In the second sample alone, wherever a repeated launch comes between.
    if (launch.number >= 5 && launch.number <= 8) spoil(launch.output);
  });
  expect_named(accusation(timed.get(), 20, 3, 1), "sample 2 ");
}

TEST(TimedJudge, FindsOtherBitsInEachLaunch) {
  // Within the bound, and so right; but no two launches agree.
  const auto noise = [](const OneLaunch& launch) {
    launch.right();
    launch.output.front() ^= static_cast<std::byte>(launch.number % 4);
  };
  for (const char* id : {"tensor_ops/sum/f32/n=50021", "tensor_ops/softmax/f64/rows=64,cols=203",
                         "tensor_ops/layernorm/f32/rows=64,cols=203"}) {
    Scripted at_the_end(id, {.own_inputs = false}, noise);
    expect_named(accusation(at_the_end.get(), 1, 3, 0),
                 "a launch on the same inputs left other bits at [0]");
    EXPECT_EQ(at_the_end->timed->repeatable(), false);
  }
  Scripted between("tensor_ops/layernorm/f32/rows=64,cols=203", {.own_inputs = false}, noise);
  const std::string reason = wrong_by(
      [&] {
        for (int i = 0; i < 100; ++i) between->sample(3, 1);
      },
      Check::last_launch);
  expect_named(reason, "not repeatable");
  EXPECT_EQ(between->timed->repeatable(), false);
}

TEST(TimedJudge, SaysWhetherLaunchesWereRepeated) {
  TimedCase timed("tensor_ops/add/f32/n=1003", {});
  EXPECT_EQ(timed.timed->repeatable(), std::nullopt);
  timed.sample(0, 0);
  EXPECT_EQ(timed.timed->repeatable(), std::nullopt);
  timed.finish();
  EXPECT_EQ(timed.timed->repeatable(), true);
  TimedCase off("tensor_ops/add/f32/n=1003", {.checks = Checks(Check::last_launch)});
  EXPECT_EQ(accusation(off, 1), "");
  EXPECT_EQ(off.timed->repeatable(), std::nullopt) << "nothing was seen";
}

/// Takes a sample that is judged, and writes to its output afterwards, as a late thread would.
std::string accused_late(const std::string& id, const Checks& checks = {}) {
  TimedCase timed(id, {.checks = checks});
  const Turns turns = timed.rotation->next(1);
  timed.timed->lay_decoys(turns);
  timed.trial.time_s(1, false, turns.first);
  // Spots are read each time; what is read whole, in half of the samples.
  for (int i = 0; i < 20; ++i) timed.timed->after_sample(turns, 1e6);
  const std::vector<std::byte> late(static_cast<std::size_t>(timed.op.signature.outputs[0].bytes()),
                                    std::byte{0x5a});
  const input::GuardedTensor::Run<const std::byte> run{0, late};
  timed.trial.tensors(turns.first).overwrite_output(0, {&run, 1});
  return wrong_by([&] { timed.timed->before_sample(); }, Check::late_writes);
}

TEST(TimedJudge, FindsWorkThatGoesOnAfterItsLaunch) {
  for (const char* id :
       {"tensor_ops/add/f32/n=50021", "tensor_ops/add/f32/n=1003", "tensor_ops/sum/f32/n=50021",
        "linear/f32/batch=70,in=64,out=130,bias=1,act=none"}) {
    expect_named(accused_late(id), "changed after its launch had ended");
    EXPECT_EQ(accused_late(id, Checks(Check::late_writes)), "");
  }
}

TEST(TimedJudge, NamesRandomSignsWhereTheyJudged) {
  TimedCase large("linear/f32/batch=300,in=512,out=300,bias=1,act=none", {.own_inputs = false});
  EXPECT_EQ(large.timed->oracles(), "");
  EXPECT_EQ(accusation(large, 1), "");
  EXPECT_EQ(large.timed->oracles(), "timed=random_signs(t=9)");
  TimedCase small("linear/f32/batch=30,in=32,out=30,bias=1,act=none", {.own_inputs = false});
  EXPECT_EQ(accusation(small, 1), "");
  EXPECT_EQ(small.timed->oracles(), "");
}

TEST(TimedJudge, FindsAnElementOfALargeProductByRandomSigns) {
  const auto one_wrong = [](const OneLaunch& launch) {
    launch.right();
    float value = 0;
    std::memcpy(&value, &launch.output[4 * 12345], 4);
    value += 1e3F;
    std::memcpy(&launch.output[4 * 12345], &value, 4);
  };
  constexpr const char* id = "linear/f32/batch=300,in=512,out=300,bias=1,act=none";
  int by_signs = 0;
  for (std::uint64_t secret = 0; secret < 5; ++secret) {
    Scripted large(id, {.secret = secret, .own_inputs = false}, one_wrong);
    const std::string reason = accusation(large.get(), 1, 3, 0);
    expect_named(reason);
    by_signs += reason.find(": row 41 as a whole is off by ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(by_signs, 3) << "a spot may find it before";
}

TEST(TimedJudge, FindsFaultsOfSimulatedDevices) {
  for (const char* fault : {"wrong_while_timed", "idle_while_timed", "every_other"}) {
    for (const char* id : {"tensor_ops/add/f32/n=1003", "tensor_ops/add/f32/n=50021"}) {
      std::string reason;
      try {
        TimedCase timed(id, {.own_inputs = false}, sim::make_backend(1, {sim::parse_fault(fault)}));
        reason = wrong_by([&] {
          for (int i = 0; i < 50; ++i) timed.sample(3, 1);
          timed.finish();
        });
        expect_named(reason);
      } catch (const WrongResult& wrong) {
        EXPECT_EQ(std::string_view(fault), "every_other") << wrong.reason;
      }
    }
  }
}

TEST(TimedRows, NameTheSampleThatWasWrong) {
  for (const char* fault : {"wrong_while_timed", "idle_while_timed"}) {
    Backends backends;
    backends.add(sim::make_backend(1, {sim::parse_fault(fault)}));
    Engine engine(backends, {.cap_s = 0.05});
    PlannedTrial trial = planned("tensor_ops/add/f32/n=1003", {{"sim", 0}});
    trial.timing = batch_timing;
    const Record record = engine.execute(trial, [] {}).record;
    EXPECT_EQ(record.status, Status::fail) << fault;
    EXPECT_EQ(record.caught_on, "timed_launches") << fault;
    expect_named(record.reason);
  }
}

}  // namespace
}  // namespace assay
