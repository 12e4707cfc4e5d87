// Products of simulated devices in formats that no CPU multiplies.
#include "kernels/sim/narrow_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/core/params.h"
#include "kernels/core/status.h"
#include "kernels/sim/backend.h"

namespace assay::sim {
namespace {

TEST(Tf32, HasElevenBitsToNearestEven) {
  EXPECT_EQ(to_tf32(1 + 0x1p-10F), 1 + 0x1p-10F);
  EXPECT_EQ(to_tf32(1 + 0x1p-11F), 1.0F) << "a tie, to even below";
  EXPECT_EQ(to_tf32(1 + 3 * 0x1p-11F), 1 + 0x1p-9F) << "a tie, to even above";
  EXPECT_EQ(to_tf32(std::nextafter(1 + 0x1p-11F, 2.0F)), 1 + 0x1p-10F);
  EXPECT_EQ(to_tf32(-1 - 0x1p-11F), -1.0F);
  EXPECT_EQ(to_tf32(0x1p-130F), 0x1p-130F) << "its exponents are those of f32";
  EXPECT_TRUE(std::isinf(to_tf32(std::numeric_limits<float>::infinity())));
  EXPECT_TRUE(std::isnan(to_tf32(std::bit_cast<float>(0x7f800001U)))) << "in the bits cut off";
}

/// Returns the outputs of an op on one simulated device.
template <class X, class Y>
std::vector<Y> computed(std::string_view op, Format format, const Params& params,
                        const std::vector<std::vector<X>>& inputs,
                        const std::vector<Y>& bias = {}) {
  const OpInstance instance = instantiate(*find_op(op), format, params);
  const auto backend = make_backend(1);
  const auto device = backend->open(0);
  const auto stream = device->create_stream();
  std::vector<Buffer> buffers;
  Binding binding{.stream = stream.get(), .inputs = {}, .outputs = {}};
  const auto give = [&](const auto& elements) {
    const std::size_t bytes = elements.size() * sizeof(elements[0]);
    buffers.emplace_back(*device, bytes);
    device->upload(buffers.back().data(), elements.data(), bytes);
    binding.inputs.push_back(buffers.back().data());
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == 2 && !bias.empty()) give(bias);
    give(inputs[i]);
  }
  if (inputs.size() <= 2 && !bias.empty()) give(bias);
  std::vector<Y> y(static_cast<std::size_t>(instance.signature.outputs[0].elements()));
  buffers.emplace_back(*device, y.size() * sizeof(Y));
  binding.outputs = {buffers.back().data()};
  device->prepare(instance, binding)->launch();
  device->download(y.data(), buffers.back().data(), y.size() * sizeof(Y));
  return y;
}

Params layer(std::int64_t batch, std::int64_t in, std::int64_t out, bool bias, const char* act) {
  Params params;
  params.set("batch", batch);
  params.set("in", in);
  params.set("out", out);
  params.set("bias", std::int64_t{bias ? 1 : 0});
  params.set("act", act);
  return params;
}

constexpr float wide = 1 + 0x1p-12F;  // 1 to tf32

TEST(Tf32, IsWhatFactorsAreAndBiasAndSumsAreNot) {
  const std::vector<std::vector<float>> factors{{wide, wide}, {wide, wide}};
  const std::vector<float> with_bias = computed<float, float>(
      "linear", ProductFormat::tf32, layer(1, 2, 1, true, "none"), factors, {0x1p-20F});
  EXPECT_EQ(with_bias[0], 2 + 0x1p-20F);
  EXPECT_GT(
      (computed<float, float>("linear", DType::f32, layer(1, 2, 1, false, "none"), factors)[0]),
      2.0F);
}

TEST(Tf32, RoundsBetweenLayersToo) {
  Params stack;
  stack.set("batch", std::int64_t{1});
  stack.set("in", std::int64_t{2});
  stack.set("width", std::int64_t{2});
  stack.set("layers", std::int64_t{2});
  stack.set("bias", std::int64_t{0});
  stack.set("act", "none");
  // The first layer gives 1 + 2^-12, which the second rounds to 1.
  const std::vector<std::vector<float>> inputs{{1, 0x1p-12F}, {1, 1, 0, 0}, {1, 0, 0, 1}};
  EXPECT_EQ((computed<float, float>("linear_stack", ProductFormat::tf32, stack, inputs)),
            (std::vector<float>{1, 0}));
  EXPECT_EQ((computed<float, float>("linear_stack", DType::f32, stack, inputs)),
            (std::vector<float>{wide, 0}));
}

TEST(Tf32, IsWhatFactorsOfBatchesAre) {
  Params params;
  for (const char* extent : {"batch", "m", "n"}) params.set(extent, std::int64_t{1});
  params.set("k", std::int64_t{2});
  const std::vector<std::vector<float>> factors{{wide, 3}, {1, wide}};
  EXPECT_EQ((computed<float, float>("batched_matmul", ProductFormat::tf32, params, factors)[0]),
            4.0F);
}

TEST(E4M3, GivesSumsRoundedOnceToBFloat16) {
  const auto e4m3 = [](float x) { return Float8E4M3(x); };
  const std::vector<std::vector<Float8E4M3>> factors{{e4m3(16), e4m3(0.5F)}, {e4m3(16), e4m3(1)}};
  const auto product = [&](bool bias, const char* act) {
    const std::vector<BFloat16> added(bias ? 1 : 0, BFloat16(-300.0F));
    return static_cast<float>(computed<Float8E4M3, BFloat16>(
        "linear", DType::e4m3, layer(1, 2, 1, bias, act), factors, added)[0]);
  };
  EXPECT_EQ(product(false, "none"), 256.0F) << "256.5 has 10 bits";
  EXPECT_EQ(product(true, "none"), -43.5F) << "and is not rounded before the bias is added";
  EXPECT_EQ(product(true, "relu"), 0.0F);
}

TEST(Bf16x9, UsesAllBitsOfFactorsAndTakesInfinitiesAsTheyAre) {
  const auto product = [](std::vector<float> x, std::vector<float> w) {
    return computed<float, float>("linear", ProductFormat::bf16x9, layer(1, 2, 1, true, "none"),
                                  {std::move(x), std::move(w)}, {0x1p-20F})[0];
  };
  EXPECT_EQ(product({1 + 0x1p-23F, 0}, {1, 5}), 1 + 0x1p-20F + 0x1p-23F);
  EXPECT_EQ(product({3, 16760831}, {5461, 1}), 16777214.0F) << "24 bits";
  EXPECT_EQ(product({std::numeric_limits<float>::infinity(), 1}, {2, 1}),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(product({std::bit_cast<float>(0x7f800001U), 1}, {2, 1})));
}

TEST(BlockScaled, ScalesEachBlockAndRoundsOnceToBFloat16) {
  const auto product = [](bool bias) {
    std::vector<std::uint8_t> x(16, 0);
    std::vector<std::uint8_t> w(16, 0);
    x[0] = w[0] = 0x32;  // 1 and 1.5
    x[8] = w[8] = 0x01;  // 0.5, in the second block
    const std::vector<std::uint8_t> one_and_4{0x38, 0x48};
    const std::vector<std::uint8_t> ones{0x38, 0x38};
    const std::vector<BFloat16> added(bias ? 1 : 0, BFloat16(-300.0F));
    return static_cast<float>(computed<std::uint8_t, BFloat16>("linear", ProductFormat::nvfp4,
                                                               layer(1, 32, 1, bias, "none"),
                                                               {x, w, one_and_4, ones}, added)[0]);
  };
  EXPECT_EQ(product(false), 1 + 2.25F + 4 * 0.25F);
  EXPECT_EQ(product(true), -296.0F) << "-295.75 has 11 bits";
}

TEST(BlockScaled, NeedsWholeBlocks) {
  EXPECT_THROW(
      instantiate(*find_op("linear"), ProductFormat::mxfp8, layer(1, 48, 1, false, "none")),
      NotApplicable);
  EXPECT_NO_THROW(
      instantiate(*find_op("linear"), ProductFormat::nvfp4, layer(1, 48, 1, false, "none")));
}

}  // namespace
}  // namespace assay::sim
