// Trials on the CPU and on simulated devices, whose memory the host cannot touch: they use only the
// interfaces of kernels/device.
#include "harness/execute/trial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/execute/verify_launch.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

TEST_F(Engines, EveryOpPassesOnTheCpuAndOnASimulatedDevice) {
  for (const char* id : {
           "tensor_ops/add/f32/n=1000",
           "tensor_ops/square/i64/n=3",
           "tensor_ops/exp/f64/n=1000",
           "tensor_ops/sum/f32/n=100000",
           "tensor_ops/softmax/f64/rows=3,cols=17",
           "linear/f32/batch=3,in=100,out=7,bias=1,act=relu",
           "linear/bf16/batch=3,in=100,out=7,bias=1,act=relu",
           "linear/i8/batch=3,in=100,out=7,bias=1,act=relu",
           "linear/linear_stack/f16/batch=3,in=10,width=7,layers=3,bias=1,act=relu",
           "tensor_ops/batched_matmul/f64/batch=2,m=3,n=4,k=5",
       }) {
    for (const DeviceId& device : {DeviceId{"cpu", 0}, DeviceId{"sim", 2}}) {
      const Record record = execute(planned(id, {device}));
      EXPECT_EQ(record.status, Status::pass) << id << " on " << to_text(device) << record.reason;
      EXPECT_GT(record.elements.value_or(0), 0);
      EXPECT_FALSE(record.oracle.empty());
      EXPECT_EQ(record.repeatable, true);
    }
  }
}

// A launch tells only of the place of its extreme. Those on more data are named once.
TEST_F(Engines, AReductionToAnExtremeHasItInTurnsAtEachBorder) {
  for (const auto& [id, launches] : {std::pair{"tensor_ops/reduce_min/f32/n=1", 35},
                                     std::pair{"tensor_ops/reduce_max/f32/n=3", 37},
                                     std::pair{"tensor_ops/argmax/f32/n=65536", 60},
                                     std::pair{"tensor_ops/reduce_min/f32/n=16777217", 18}}) {
    const Record record = execute(planned(id, {{"cpu", 0}}));
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    EXPECT_EQ(record.elements, launches) << id;
    // A long tensor has the special values of its seed alone, before the others.
    const bool is_short =
        record.oracle.find("near_ties=exact(any zero); special_values") != std::string::npos;
    EXPECT_EQ(is_short, launches != 18) << id;
    EXPECT_TRUE(record.oracle.ends_with(
        std::string("needles=exact(any zero); ends=exact(any zero); near_ties=exact(any zero); ") +
        (is_short ? "special_values=exact(any zero); " : "") +
        "infinities=exact(any zero); nan=exact(any zero); real_data=exact(any zero)"))
        << id << ": " << record.oracle;
  }
}

TEST_F(Engines, EveryProductPassesInEveryDtypeWithEveryActivation) {
  std::vector<std::string> ids{"linear/i8/batch=5,in=67,out=9,bias=1,act=none",
                               "linear/i8/batch=133,in=67,out=141,bias=0,act=relu"};
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    ids.push_back("tensor_ops/batched_matmul/" + dtype + "/batch=3,m=5,n=7,k=37");
    for (const std::string act : {"none", "relu", "gelu", "gelu_tanh"}) {
      ids.push_back("linear/" + dtype + "/batch=5,in=67,out=9,bias=1,act=" + act);
      ids.push_back("linear/" + dtype + "/batch=133,in=67,out=141,bias=0,act=" + act);
      ids.push_back("linear/linear_stack/" + dtype +
                    "/batch=5,in=67,width=300,layers=4,bias=1,act=" + act);
    }
  }
  for (const std::string& id : ids) {
    const Record record = execute(planned(id, {{"cpu", 0}}));
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    EXPECT_EQ(record.repeatable, true) << id;
  }
}

TEST_F(Engines, InputsOfATrialEndWhereMemoryEndsIfItIsToldSo) {
  const auto end_of = [](const Trial& trial, bool output) {
    const Binding binding = trial.tensors().binding(0);
    const void* begin = output ? binding.outputs[0] : binding.inputs[1];
    return static_cast<const volatile char*>(begin) + 1003 * sizeof(float);
  };
  Backend& backend = *backends_.find("cpu");
  const auto device = backend.open(0);
  Device* lane[] = {device.get()};
  Trial trial(planned("tensor_ops/add/f32/n=1003", {{"cpu", 0}}).test.op, backend, lane);
  static_cast<void>(*end_of(trial, false));
  trial.lay(Addresses::odd);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(trial.tensors().binding(0).outputs[0]) % 8, 4);
  EXPECT_DEATH(static_cast<void>(*end_of(trial, false)), "past the end of an input");
  static_cast<void>(*end_of(trial, true));  // a guard band shows what is written there
  trial.lay(Addresses::aligned);
  static_cast<void>(*end_of(trial, false));
  arm_for_timing(trial);
  trial.launch();
  EXPECT_EQ(trial.damage(), std::nullopt);
}

TEST_F(Engines, EverySecondTensorOfATrialIsOffTheOthersIfItIsToldSo) {
  Backend& backend = *backends_.find("cpu");
  const auto device = backend.open(0);
  Device* lane[] = {device.get()};
  Trial trial(planned("tensor_ops/add/f32/n=1003", {{"cpu", 0}}).test.op, backend, lane);
  trial.lay(Addresses::uneven);
  const Binding binding = trial.tensors().binding(0);
  const auto rest = [](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 8;
  };
  EXPECT_EQ(rest(binding.inputs[0]), 0);
  EXPECT_EQ(rest(binding.inputs[1]), 4);
  EXPECT_EQ(rest(binding.outputs[0]), 0);
}

TEST_F(Engines, ATrialThatNothingCouldHaveFailedIsVacuous) {
  // A copy that is not declared as one: its untouched input would pass for its output.
  PlannedTrial copy = planned("tensor_ops/copy/f32/n=1003", {{"cpu", 0}});
  EXPECT_EQ(execute(copy).status, Status::pass);
  copy.test.op.signature.is_copy = false;
  const Record record = execute(copy);
  EXPECT_EQ(record.status, Status::vacuous);
  EXPECT_EQ(record.reason, "input 0 would have passed too");
}

TEST_F(Engines, EmptyTensorsPass) {
  for (const char* id : {"tensor_ops/add/f32/n=0", "tensor_ops/sum/f64/n=0",
                         "transfers/memcpy/u8/from=host,to=host,bytes=0,threads=all"}) {
    const Record record = execute(planned(id, {{"cpu", 0}}));
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
  }
}

TEST_F(Engines, RanksShareTheCpuAndHaveASimulatedDeviceEach) {
  const std::string id = "allreduce/f32/reduce=sum,ranks=4,count=1000";
  const Record on_cpu = execute(planned(id, {{"cpu", 0}}));
  EXPECT_EQ(on_cpu.status, Status::pass) << on_cpu.reason;
  EXPECT_EQ(on_cpu.elements, 3 * 4 * 1000) << "each pass, every rank";
  EXPECT_EQ(on_cpu.transport, "gloo-tcp");
  const Record on_sim = execute(planned(id, {{"sim", 0}, {"sim", 1}, {"sim", 2}, {"sim", 3}}));
  EXPECT_EQ(on_sim.status, Status::pass) << on_sim.reason;
  EXPECT_EQ(on_sim.transport, "sim over gloo-tcp");
}

TEST_F(Engines, ATrialSaysWhereItsTimeWent) {
  PlannedTrial trial = planned("tensor_ops/sum/f32/n=10000", {{"cpu", 0}});
  const PhaseSeconds checked = engine_.execute(trial, [] {}).phases;
  EXPECT_GT(checked.setup, 0);
  EXPECT_GT(checked.input, 0);
  EXPECT_GT(checked.execution, 0);
  EXPECT_GT(checked.reference, 0);
  EXPECT_GT(checked.comparison, 0);
  EXPECT_EQ(checked.sampling, 0) << "it was only checked";
  EXPECT_EQ(checked.output, 0) << "the parent's";
  EXPECT_EQ(checked.other, 0) << "the parent's";

  Engine engine(backends_, {.cap_s = 0.01});
  trial.timing = "batch";
  double waited_s = 0;
  const double begin_s = steady_s();
  const auto wait = [&] {
    const double asked_s = steady_s();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    waited_s = steady_s() - asked_s;
  };
  const PhaseSeconds timed = engine.execute(trial, wait).phases;
  EXPECT_GT(timed.sampling, 0);
  EXPECT_GT(waited_s, 0);
  EXPECT_LE(timed.total(), steady_s() - begin_s - waited_s + 1e-6) << "waiting is no phase";
}

TEST_F(Engines, TimeSpentOnATrialThatNeverRanIsNotForgotten) {
  const PlannedTrial too_large = planned("tensor_ops/add/f64/n=2000000000", {{"sim", 0}});
  const PhaseSeconds lost = engine_.execute(too_large, [] {}).phases;
  EXPECT_GT(lost.setup, 0);
  EXPECT_EQ(lost.total(), lost.setup) << "it never came to run";
}

TEST_F(Engines, WhatADeviceLacksIsASkipWithItsReason) {
  const Record record =
      execute(planned("linear/f32/batch=1,in=1,out=1,bias=0,act=none", {{"tpu", 0}}));
  EXPECT_EQ(record.status, Status::device_lost);
  EXPECT_NE(record.reason.find("tpu:0"), std::string::npos);
}

TEST_F(Engines, TooMuchMemoryIsOom) {
  const Record record = execute(planned("tensor_ops/add/f64/n=2000000000", {{"sim", 0}}));
  EXPECT_EQ(record.status, Status::oom) << record.reason;
}

TEST(GuardBands, AWriteOutsideTheTensorIsSeenAndCounted) {
  const auto backend = cpu::make_backend();
  const auto device = backend->open(0);
  input::GuardedTensor tensor(*device, {DType::f32, {5}});
  tensor.set_guards(std::byte{0x5c});
  EXPECT_EQ(tensor.damage(), std::nullopt);
  tensor.data()[20] = std::byte{0};
  EXPECT_EQ(tensor.damage(), "1 bytes written past the end, from byte +0");
  tensor.set_guards(std::byte{0xa3});
  tensor.data()[-8] = std::byte{0};
  EXPECT_EQ(tensor.damage(), "1 bytes written before the start, from 8 bytes away");
}

TEST(GuardBands, NoByteOfThemIsLeftOut) {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(cpu::make_backend());
  backends.push_back(sim::make_backend(1));
  for (const auto& backend : backends) {
    const auto device = backend->open(0);
    input::GuardedTensor tensor(*device, {DType::f32, {5}});
    const std::ptrdiff_t band = 4096;
    const auto write = [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      tensor.set_guards(std::byte{0x5c});
      device->fill(tensor.data() + first, std::byte{0x5d}, static_cast<std::size_t>(count));
    };
    for (const std::ptrdiff_t at : {-band, std::ptrdiff_t{-1}}) {
      write(at, 1);
      EXPECT_EQ(tensor.damage(),
                fmt::format("1 bytes written before the start, from {} bytes away", -at));
    }
    for (const std::ptrdiff_t at : {std::ptrdiff_t{0}, band - 1}) {
      write(20 + at, 1);
      EXPECT_EQ(tensor.damage(), fmt::format("1 bytes written past the end, from byte +{}", at));
    }
    write(-band, band);
    EXPECT_EQ(tensor.damage(), "4096 bytes written before the start, from 4096 bytes away");
    write(20, band);
    EXPECT_EQ(tensor.damage(), "4096 bytes written past the end, from byte +0");
  }
}

TEST(SimulatedDevices, TheHostCannotTouchTheirMemory) {
  const auto backend = sim::make_backend(1);
  const auto device = backend->open(0);
  const Buffer buffer(*device, 64);
  EXPECT_DEATH(*buffer.data() = std::byte{1}, "");
  std::byte value{7};
  device->upload(buffer.data() + 63, &value, 1);
  value = std::byte{0};
  device->download(&value, buffer.data() + 63, 1);
  EXPECT_EQ(value, std::byte{7});
  EXPECT_THROW(device->upload(&value, &value, 1), DeviceError) << "an address of the host";
}

TEST(SimulatedDevices, OneDevicesAddressesMeanNothingToAnother) {
  const auto backend = sim::make_backend(2);
  const auto first = backend->open(0);
  const auto second = backend->open(1);
  const Buffer buffer(*first, 64);
  std::byte value{};
  EXPECT_THROW(second->download(&value, buffer.data(), 1), DeviceError);
}

// --- A device that does one thing wrong: each must be found by the step that is there for it -----

enum class Fault {
  none,
  copies_a_guard,
  stale_output,
  past_the_end,
  past_the_end_while_timed,  // but not in the last launches
  overwrites_input,
  changes_with_launch
};

/// Adds like the CPU, then applies the fault.
class FaultyKernel final : public Kernel {
 public:
  FaultyKernel(std::unique_ptr<Kernel> real, Fault fault, const Binding& binding, std::size_t n)
      : real_(std::move(real)), fault_(fault), binding_(binding), n_(n) {}
  void launch() override {
    ++launches_;
    auto* y = static_cast<float*>(binding_.outputs[0]);
    if (fault_ == Fault::stale_output) return;
    real_->launch();
    if (fault_ == Fault::past_the_end) y[n_] = 0;
    if (fault_ == Fault::copies_a_guard) y[n_] = static_cast<const float*>(binding_.inputs[0])[n_];
    if (fault_ == Fault::past_the_end_while_timed && launches_ > 2 && launches_ < 20) y[n_] = 0;
    if (fault_ == Fault::overwrites_input) {
      static_cast<float*>(const_cast<void*>(binding_.inputs[1]))[n_ - 1] += 1;
    }
    if (fault_ == Fault::changes_with_launch && launches_ > 2) y[0] = 0;
  }
  std::string implementation() const override { return "faulty"; }

 private:
  std::unique_ptr<Kernel> real_;
  Fault fault_;
  Binding binding_;
  std::size_t n_;
  int launches_ = 0;
};

class FaultyDevice final : public ForwardingDevice {
 public:
  FaultyDevice(std::unique_ptr<Device> real, Fault fault)
      : ForwardingDevice(std::move(real)), fault_(fault) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    const auto n = static_cast<std::size_t>(op.signature.outputs[0].elements());
    return std::make_unique<FaultyKernel>(ForwardingDevice::prepare(op, binding), fault_, binding,
                                          n);
  }

 private:
  Fault fault_;
};

Result with_fault(Fault fault, const std::string& timing) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("faulty", cpu::make_backend(), [=](auto real) {
    return std::make_unique<FaultyDevice>(std::move(real), fault);
  }));
  Engine engine(backends, {.cap_s = 0.02});
  PlannedTrial trial = planned("tensor_ops/add/f32/n=1000", {{"faulty", 0}});
  trial.timing = timing;
  return engine.execute(trial, [] {});
}

TEST(Faults, NoFaultIsNeverFlagged) {
  for (const char* timing : {"", "batch"}) {
    const Result result = with_fault(Fault::none, timing);
    EXPECT_EQ(result.record.status, Status::pass) << result.record.reason;
    EXPECT_EQ(result.record.caught_by, std::nullopt);
    EXPECT_EQ(result.record.time_median_s.has_value(), *timing != '\0');
    EXPECT_EQ(result.samples.empty(), *timing == '\0');
  }
}

void expect_caught(Fault fault, Check check, const std::string& on, const std::string& reason) {
  for (const char* timing : {"", "batch"}) {
    const Result result = with_fault(fault, timing);
    EXPECT_EQ(result.record.status, Status::fail) << reason;
    EXPECT_NE(result.record.reason.find(reason), std::string::npos) << result.record.reason;
    EXPECT_EQ(result.record.caught_by, check);
    EXPECT_EQ(result.record.caught_on, on);
    EXPECT_FALSE(result.record.time_median_s) << "wrong work has no times";
    EXPECT_TRUE(result.samples.empty());
  }
}

TEST(Faults, AnOutputThatIsNotWritten) {
  expect_caught(Fault::stale_output, Check::exact, "all_exponents", "of 1000 elements wrong");
}
TEST(Faults, AWritePastTheEnd) {
  expect_caught(Fault::past_the_end, Check::guard_bands, "all_exponents",
                "4 bytes written past the end");
}
TEST(Faults, AGuardThatIsReadAndWrittenOn) {
  expect_caught(Fault::copies_a_guard, Check::guard_bands, "all_exponents",
                "4 bytes written past the end");
}
TEST(Faults, AnInputThatIsOverwritten) {
  expect_caught(Fault::overwrites_input, Check::unchanged_inputs, "real_data",
                "input 1 was overwritten");
}
TEST(Faults, AWritePastTheEndByEarlyTimedLaunchesAlone) {
  const Result result = with_fault(Fault::past_the_end_while_timed, "batch");
  EXPECT_EQ(result.record.status, Status::fail);
  EXPECT_NE(result.record.reason.find("timed_launches: output 0"), std::string::npos)
      << result.record.reason;
  EXPECT_EQ(result.record.caught_by, Check::guard_bands);
  EXPECT_EQ(result.record.caught_on, "timed_launches");
}
TEST(Faults, AResultThatIsWrongOnlyAfterTheVerifiedLaunches) {
  const Record checked = with_fault(Fault::changes_with_launch, "").record;
  EXPECT_EQ(checked.status, Status::fail);
  EXPECT_EQ(checked.caught_by, Check::last_launch);
  EXPECT_NE(checked.reason.find("not repeatable: the last launch"), std::string::npos)
      << checked.reason;
  const Result timed = with_fault(Fault::changes_with_launch, "batch");
  EXPECT_EQ(timed.record.status, Status::fail);
  EXPECT_EQ(timed.record.caught_by, Check::exact);
  EXPECT_EQ(timed.record.caught_on, "timed_launches");
  EXPECT_TRUE(timed.record.reason.starts_with("timed_launches: sample ")) << timed.record.reason;
  EXPECT_FALSE(timed.record.time_median_s) << "wrong work has no times";
  EXPECT_TRUE(timed.samples.empty());
}

}  // namespace
}  // namespace assay
