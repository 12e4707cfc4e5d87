// A declared deviation by which launches may differ, and launches that differ otherwise.
#include <gtest/gtest.h>

#include "kernels/device/forwarding.h"
#include "kernels/ops/passes.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::string product = "linear/f32/batch=4,in=64,out=8,bias=0,act=none";

/// Flips bits of the first element of the output once every pass has been judged.
class DifferingKernel final : public Kernel {
 public:
  DifferingKernel(std::unique_ptr<Kernel> real, Device& device, const Binding& binding,
                  std::int64_t judged, std::uint32_t flips, std::int64_t& launches)
      : real_(std::move(real)),
        device_(device),
        output_(binding.outputs[0]),
        judged_(judged),
        flips_(flips),
        launches_(launches) {}
  std::string implementation() const override { return "differing"; }
  void launch() override {
    real_->launch();
    if (++launches_ <= judged_) return;
    std::uint32_t bits = 0;
    device_.download(&bits, output_, sizeof bits);
    bits ^= flips_;
    device_.upload(output_, &bits, sizeof bits);
  }

 private:
  std::unique_ptr<Kernel> real_;
  Device& device_;
  void* output_;
  std::int64_t judged_;
  std::uint32_t flips_;
  std::int64_t& launches_;
};

class DifferingDevice final : public ForwardingDevice {
 public:
  DifferingDevice(std::unique_ptr<Device> real, std::uint32_t flips)
      : ForwardingDevice(std::move(real)), flips_(flips) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return std::make_unique<DifferingKernel>(ForwardingDevice::prepare(op, binding), *this, binding,
                                             std::ssize(passes(op)), flips_, launches_);
  }

 private:
  std::uint32_t flips_;
  std::int64_t launches_ = 0;
};

Record last_launch_flips(std::uint32_t bits, bool strict = false) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("differing", sim::make_backend(1), [=](auto real) {
    return std::make_unique<DifferingDevice>(std::move(real), bits);
  }));
  const std::vector<Deviation> table{{.id = "any-order",
                                      .ops = {"linear"},
                                      .formats = {DType::f32},
                                      .where = Deviation::Where::launches_differ}};
  EngineOptions options{.deviations = table};
  options.strict = strict;
  Engine engine(backends, options);
  return engine.execute(planned(product, {{"differing", 0}}), [] {}).record;
}

TEST(DifferingLaunches, PassWhereDeclaredAndRight) {
  constexpr std::uint32_t last_bit = 1;
  const Record declared = last_launch_flips(last_bit);
  EXPECT_EQ(declared.status, Status::pass) << declared.reason;
  EXPECT_EQ(declared.reason, "deviation:any-order");
  EXPECT_EQ(declared.repeatable, false);

  const Record strict = last_launch_flips(last_bit, true);
  EXPECT_EQ(strict.status, Status::fail);
  EXPECT_EQ(strict.caught_by, Check::last_launch) << strict.reason;

  const Record same = last_launch_flips(0);
  EXPECT_EQ(same.status, Status::pass) << same.reason;
  EXPECT_EQ(same.reason, "") << "it is chance, and need not be seen";
  EXPECT_EQ(same.repeatable, true);
}

TEST(DifferingLaunches, FailWhereTheyAreWrong) {
  constexpr std::uint32_t top_exponent_bit = 1U << 30;
  const Record wrong = last_launch_flips(top_exponent_bit);
  EXPECT_EQ(wrong.status, Status::fail) << wrong.reason;
  EXPECT_EQ(wrong.reason.rfind("last_launch: 1 of 32 elements wrong", 0), 0U) << wrong.reason;
  EXPECT_EQ(wrong.repeatable, false);
}

}  // namespace
}  // namespace assay
