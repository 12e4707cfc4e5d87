// Streams and graphs of the CUDA backend, on emulated GPUs.
#include <cuda_runtime_api.h>

#include <optional>
#include <stdexcept>

#include "emulator/runtime/work.h"
#include "kernels/device/held_work.h"
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

std::unique_ptr<Kernel> graph_of(Kernel& kernel, std::int64_t launches, Stream& stream) {
  Stream* streams[] = {&stream};
  return stream.as_graph(kernel, launches, streams);
}

OpInstance copy_within(const char* from) {
  return instance("device_memcpy", DType::u8,
                  {{"from", from}, {"to", "device"}, {"bytes", "64"}, {"by", "engine"}});
}

TEST(EmulatedStreams, TellOnceThatTheirBlockingLapsed) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    EXPECT_FALSE(stream->take_lapse());
    for (int lapse = 0; lapse < 4; ++lapse) {
      EXPECT_TRUE(stream->block());
      stream->synchronize();  // waits until the kernel lets go by itself
      EXPECT_TRUE(stream->take_lapse());
      EXPECT_FALSE(stream->take_lapse());
    }
  });
}

TEST(EmulatedStreams, WaitForWorkOnAnother) {
  for (int seed = 0; seed < 20; ++seed) {
    on_gpu(
        [](Device& gpu) {
          const OpInstance op = copy_within("device");
          const Rank first(gpu, op);
          const Rank second(gpu, op);
          Binding chained = second.binding;
          chained.inputs[0] = first.binding.outputs[0];
          const auto forth = gpu.prepare(op, first.binding);
          const auto on = gpu.prepare(op, chained);
          gpu.fill(first.binding.outputs[0], std::byte{9}, 64);
          forth->launch();
          second.stream->await_all();
          on->launch();
          second.stream->synchronize();
          std::byte last{};
          gpu.download(&last, static_cast<std::byte*>(second.binding.outputs[0]) + 63, 1);
          EXPECT_EQ(last, std::byte{1});
        },
        {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
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
    const auto graph = graph_of(counted, 5, *rank.stream);
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
    EXPECT_EQ(graph_of(*kernel, 2, *rank.stream), nullptr);
  });
}

TEST(EmulatedStreams, MakeNoGraphOfACallThatCannotBeCaptured) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    Call waits([&] { stream->synchronize(); });
    EXPECT_EQ(graph_of(waits, 1, *stream), nullptr);
    EXPECT_NO_THROW(stream->synchronize()) << "nothing of it sticks";
    bool is_inner_made = true;
    Call nothing([] {});
    Call nested([&] { is_inner_made = graph_of(nothing, 1, *stream) != nullptr; });
    EXPECT_NO_THROW(graph_of(nested, 1, *stream));
    EXPECT_FALSE(is_inner_made) << "a stream has one capture at a time";
    EXPECT_NO_THROW(stream->synchronize());
  });
}

TEST(EmulatedStreams, OfTwoGpusAreTimedByAGraphEach) {
  for (const std::string seed : {"1", "2", "3"}) {
    on_gpus(2,
            [](Backend& backend) {
              const OpInstance op =
                  instance("peer_memcpy", DType::u8,
                           {{"bytes", "64"}, {"access", "direct"}, {"by", "engine"}});
              const std::unique_ptr<Device> gpus[] = {backend.open(0), backend.open(1)};
              std::vector<std::unique_ptr<Buffer>> from, to;
              std::vector<std::unique_ptr<Stream>> streams;
              std::vector<std::unique_ptr<Kernel>> kernels;
              for (const std::size_t way : {0U, 1U}) {
                from.push_back(std::make_unique<Buffer>(*gpus[way], 64));
                to.push_back(std::make_unique<Buffer>(*gpus[1 - way], 64));
                gpus[way]->fill(from[way]->data(), std::byte(7 + way), 64);
                streams.push_back(gpus[way]->create_stream());
                kernels.push_back(gpus[way]->prepare(
                    op, {streams[way].get(), {from[way]->data()}, {to[way]->data()}}));
              }
              Stream* both_streams[] = {streams[0].get(), streams[1].get()};
              HeldWork work(both_streams, {{kernels[0].get(), kernels[1].get()}});
              EXPECT_EQ(work.time_s(100, false, 0).size(), 2U);
              EXPECT_TRUE(work.was_graph());
              for (const std::size_t way : {0U, 1U}) {
                std::byte last{};
                gpus[1 - way]->download(&last, to[way]->data() + 63, 1);
                EXPECT_EQ(last, std::byte(7 + way));
              }
            },
            {{"ASSAY_EMULATOR_SEED", seed}});
  }
}

/// Expects so many bytes of an input in its GPU's cache when a timed launch begins, on the second
/// of two GPUs.
void expect_cached(bool cold, std::size_t bytes_of_input, std::size_t expected_bytes) {
  on_gpus(2,
          [=](Backend& backend) {
            const auto gpu = backend.open(1);
            const Buffer input(*gpu, bytes_of_input);
            const auto stream = gpu->create_stream();
            std::optional<std::size_t> found_bytes;
            Call asks([&] {
              emulator::enqueue(static_cast<cudaStream_t>(stream->native()), "asks", [&] {
                found_bytes = emulator::memory().cached_bytes(
                    reinterpret_cast<std::uintptr_t>(input.data()), input.bytes());
                return emulator::Step::done;
              });
            });
            Stream* streams[] = {stream.get()};
            HeldWork work(streams, {{&asks}});
            for (int sample = 0; sample < 2; ++sample) {  // the first also allocates for the flush
              gpu->fill(input.data(), std::byte{1}, input.bytes());
              work.time_s(1, cold, 0);
              EXPECT_EQ(found_bytes, expected_bytes) << sample;
            }
          },
          {{"ASSAY_EMULATOR_CACHES", "1"}});
}

TEST(EmulatedStreams, FlushTheWholeCacheBeforeAColdLaunch) {
  constexpr std::size_t bytes = 1 << 20;
  expect_cached(false, bytes, bytes);
  expect_cached(true, bytes, 0);
}

TEST(EmulatedStreams, EndTheCaptureWhenALaunchFailsOtherwise) {
  on_gpu([](Device& gpu) {
    const auto stream = gpu.create_stream();
    Call fails([] { throw std::runtime_error("of the test"); });
    EXPECT_THROW(graph_of(fails, 1, *stream), std::runtime_error);
    EXPECT_NO_THROW(stream->synchronize());
  });
}

TEST(EmulatedStreams, OfOlderDriversDoNotTellTheirGpu) {
  on_gpu(
      [](Device& gpu) {
        const OpInstance op = instance("add", DType::f32, {{"n", "64"}});
        const Rank rank(gpu, op);
        const auto kernel = gpu.prepare(op, rank.binding);
        EXPECT_EQ(rank.stream->device_uuid(), "");
        EXPECT_NO_THROW(kernel->launch()) << "which must not see the refusal";
        rank.stream->synchronize();
      },
      {{"ASSAY_EMULATOR_DRIVER", "12020"}});
}

TEST(EmulatedStreams, NameTheGpuThatExecutes) {
  on_gpus(2, [](Backend& backend) {
    const auto second = backend.open(1);
    EXPECT_EQ(second->create_stream()->device_uuid(), second->info().uuid);
  });
}

}  // namespace
}  // namespace assay
