// Streams and graphs of the CUDA backend, on emulated GPUs.
#include <stdexcept>

#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

/// A kernel whose launch is a function.
struct Call final : Kernel {
  explicit Call(std::function<void()> function) : call(std::move(function)) {}
  void launch() override { call(); }
  std::string implementation() const override { return "a call"; }
  std::function<void()> call;
};

OpInstance copy_within(const char* from) {
  return instance("device_memcpy", DType::u8,
                  {{"from", from}, {"to", "device"}, {"bytes", "64"}, {"by", "engine"}});
}

TEST(EmulatedStreams, NoLongerHoldWorkBackAfterThreeLapses) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    for (int lapse = 0; lapse < 3; ++lapse) {
      EXPECT_TRUE(stream->block());
      stream->synchronize();  // waits until the kernel lets go by itself
    }
    EXPECT_FALSE(stream->block());
    stream->synchronize();
  });
}

TEST(EmulatedStreams, RunAGraphAsOftenAsItWasToldTo) {
  on_gpu([](Device& gpu) {
    const OpInstance op = copy_within("device");
    const Rank rank(gpu, op);
    const auto kernel = gpu.prepare(op, rank.binding);
    int launches = 0;
    Call counted([&] {
      ++launches;
      kernel->launch();
    });
    const auto graph = rank.stream->as_graph(counted, 5);
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(launches, 5);
    EXPECT_EQ(graph->implementation(), "a call");
    gpu.fill(rank.binding.outputs[0], std::byte{9}, 64);
    graph->launch();
    rank.stream->synchronize();
    std::byte last{};
    gpu.download(&last, static_cast<std::byte*>(rank.binding.outputs[0]) + 63, 1);
    EXPECT_EQ(last, std::byte{1});
  });
}

TEST(EmulatedStreams, MakeNoGraphOfACallThatMayWait) {
  on_gpu([](Device& gpu) {
    const OpInstance op = copy_within("pageable");
    const Rank rank(gpu, op);
    const auto kernel = gpu.prepare(op, rank.binding);
    EXPECT_TRUE(kernel->may_wait());
    EXPECT_EQ(rank.stream->as_graph(*kernel, 2), nullptr);
  });
}

TEST(EmulatedStreams, MakeNoGraphOfACallThatCannotBeCaptured) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    Call waits([&] { stream->synchronize(); });
    EXPECT_EQ(stream->as_graph(waits, 1), nullptr);
    EXPECT_NO_THROW(stream->synchronize()) << "nothing of it sticks";
    bool is_inner_made = true;
    Call nothing([] {});
    Call nested([&] { is_inner_made = stream->as_graph(nothing, 1) != nullptr; });
    EXPECT_NO_THROW(stream->as_graph(nested, 1));
    EXPECT_FALSE(is_inner_made) << "a stream has one capture at a time";
    EXPECT_NO_THROW(stream->synchronize());
  });
}

TEST(EmulatedStreams, EndTheCaptureWhenALaunchFailsOtherwise) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    Call fails([] { throw std::runtime_error("of the test"); });
    EXPECT_THROW(stream->as_graph(fails, 1), std::runtime_error);
    EXPECT_NO_THROW(stream->synchronize());
  });
}

TEST(EmulatedStreams, NameTheGpuThatExecutes) {
  on_gpus(2, [](Backend& backend) {
    const auto second = backend.open(1);
    EXPECT_EQ(second->create_stream()->device_uuid(), second->info().uuid);
  });
}

}  // namespace
}  // namespace assay
