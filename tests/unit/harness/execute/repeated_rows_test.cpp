// Rows that stand alone repeat in large launches, and are judged in blocks of a period.
#include <gtest/gtest.h>

#include "harness/input/panel.h"
#include "kernels/device/forwarding.h"
#include "kernels/ops/passes.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

/// One element that one launch leaves wrong; no launch: -1.
struct Flip {
  std::int64_t launch;
  std::int64_t element;
};

class FlippingKernel final : public Kernel {
 public:
  FlippingKernel(std::unique_ptr<Kernel> real, Device& device, const Binding& binding,
                 const Flip& flip, std::int64_t& launches)
      : real_(std::move(real)),
        device_(device),
        output_(static_cast<float*>(binding.outputs[0]) + flip.element),
        flip_(flip),
        launches_(launches) {}
  std::string implementation() const override { return "flipping"; }
  void launch() override {
    real_->launch();
    if (launches_++ != flip_.launch) return;
    std::uint32_t bits = 0;
    device_.download(&bits, output_, sizeof bits);
    bits ^= 0x4000'0000U;  // of the exponent
    device_.upload(output_, &bits, sizeof bits);
  }

 private:
  std::unique_ptr<Kernel> real_;
  Device& device_;
  float* output_;
  Flip flip_;
  std::int64_t& launches_;
};

class FlippingDevice final : public ForwardingDevice {
 public:
  FlippingDevice(std::unique_ptr<Device> real, const Flip& flip)
      : ForwardingDevice(std::move(real)), flip_(flip) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return std::make_unique<FlippingKernel>(ForwardingDevice::prepare(op, binding), *this, binding,
                                            flip_, launches_);
  }

 private:
  Flip flip_;
  std::int64_t launches_ = 0;
};

constexpr std::int64_t rows = 3000, cols = 200;
const std::string large = "tensor_ops/softmax/f32/rows=3000,cols=200";

Record judged(const Flip& flip) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("flipping", sim::make_backend(1), [=](auto real) {
    return std::make_unique<FlippingDevice>(std::move(real), flip);
  }));
  Engine engine(backends, {});
  PlannedTrial trial = planned(large, {{"flipping", 0}});
  trial.timing.clear();
  return engine.execute(trial, [] {}).record;
}

TEST(RepeatedRows, AreOfLargeOpsWhoseRowsStandAloneInAllPassesButTheLast) {
  for (const char* id :
       {"tensor_ops/softmax/f32/rows=3000,cols=200", "tensor_ops/layernorm/f32/rows=3000,cols=200",
        "tensor_ops/topk/f32/rows=3000,cols=400,k=2"}) {
    const OpInstance op = parse_case_id(id).op;
    const auto last = static_cast<int>(std::ssize(passes(op))) - 1;
    EXPECT_EQ(input::panel(op, 0).rows, 127) << id;
    for (int pass = 1; pass < last; ++pass) EXPECT_EQ(input::panel(op, pass).rows, 131) << id;
    EXPECT_EQ(input::panel(op, last).rows, 0) << id;
    EXPECT_EQ(input::rows_before_repeat(op, 0, 0), 127) << id;
  }
  const OpInstance layernorm = parse_case_id("tensor_ops/layernorm/f32/rows=3000,cols=200").op;
  EXPECT_EQ(input::rows_before_repeat(layernorm, 0, 1), 0) << "weights have no rows";
  for (const char* id :
       {"tensor_ops/softmax/f32/rows=3000,cols=100",
        "tensor_ops/softmax_axis/f32/outer=1,n=3000,inner=200", "tensor_ops/relu/f32/n=1000000"}) {
    EXPECT_EQ(input::panel(parse_case_id(id).op, 0).rows, 0) << id;
  }
}

TEST(RepeatedRows, AreAllJudged) {
  const Record right = judged({.launch = -1, .element = 0});
  EXPECT_EQ(right.status, Status::pass) << right.reason;
  EXPECT_EQ(right.elements, std::ssize(passes(parse_case_id(large).op)) * rows * cols);
}

/// In the first block, in one in the middle, in the last, which is shorter, and on each pass.
TEST(RepeatedRows, AWrongElementIsFoundWhereItIs) {
  const std::int64_t launches = std::ssize(passes(parse_case_id(large).op));
  for (const std::int64_t launch : {std::int64_t{0}, std::int64_t{1}, launches - 2, launches - 1}) {
    for (const std::int64_t element :
         {std::int64_t{5}, std::int64_t{1500} * cols + 7, rows * cols - 1}) {
      const Record wrong = judged({.launch = launch, .element = element});
      EXPECT_EQ(wrong.status, Status::fail) << launch << " " << element;
      EXPECT_EQ(wrong.worst_index, element) << wrong.reason;
      EXPECT_EQ(wrong.mismatches, 1) << wrong.reason;
    }
  }
}

}  // namespace
}  // namespace assay
