// Devices of the CUDA backend, on emulated GPUs.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

TEST(EmulatedDevices, ThatAreNotThereAreLost) {
  on_gpus(2, [](Backend& backend) {
    for (const int index : {-1, 2}) {
      const std::string error = error_of(Failure::device_lost, [&] { backend.open(index); });
      expect_has(error, "there is no cuda:" + std::to_string(index));
      expect_has(error, "the driver shows 2 GPUs");
    }
  });
}

// Ranks are threads, of which one would read the environment while another one sets it.
TEST(EmulatedDevices, SetTheEnvironmentBeforeAnyIsOpen) {
  on_gpus(1, [](Backend&) { EXPECT_STREQ(std::getenv("CUBLAS_EMULATION_STRATEGY"), "eager"); });
}

TEST(EmulatedDevices, HaveNoHugePages) {
  on_gpu([](Device& gpu) {
    error_of(Failure::not_here, [&] { gpu.allocate(4096, Memory::huge_pages); });
  });
}

TEST(EmulatedDevices, HaveNoMoreMemoryThanTheySay) {
  on_gpu([](Device& gpu) {
    const std::int64_t free = gpu.free_memory_bytes();
    const Buffer half(gpu, static_cast<std::size_t>(free / 2));
    EXPECT_LE(gpu.free_memory_bytes(), free - free / 2);
    const std::string error = error_of(Failure::out_of_memory, [&] {
      gpu.allocate(static_cast<std::size_t>(free), Memory::standard);
    });
    expect_has(error, "cudaMalloc");
    EXPECT_NO_THROW(Buffer(gpu, 16)) << "the error does not stick";
  });
}

TEST(EmulatedDevices, MoveBytesThroughEachKindOfMemory) {
  on_gpu([](Device& gpu) {
    for (const Memory kind : {Memory::standard, Memory::pinned, Memory::pageable}) {
      const Buffer buffer(gpu, 8, kind);
      gpu.fill(buffer.data(), std::byte{7}, 8);
      const std::array<std::byte, 2> two{std::byte{1}, std::byte{2}};
      gpu.upload(buffer.data() + 3, two.data(), 2);
      std::array<std::byte, 8> all{};
      gpu.download(all.data(), buffer.data(), 8);
      EXPECT_EQ(all[2], std::byte{7});
      EXPECT_EQ(all[3], std::byte{1});
      EXPECT_EQ(all[4], std::byte{2});
      EXPECT_EQ(all[5], std::byte{7});
    }
  });
}

TEST(EmulatedDevices, TellWhoseMemoryItIs) {
  on_gpu([](Device& gpu) {
    const Buffer own(gpu, 8), pinned(gpu, 8, Memory::pinned);
    EXPECT_EQ(gpu.owner_uuid(own.data()), gpu.info().uuid);
    EXPECT_EQ(gpu.owner_uuid(pinned.data()), "") << "requested as the host's";
    const int local = 0;
    EXPECT_EQ(gpu.owner_uuid(&local), "host");
    // A GPU's memory may begin where pinned memory ends.
    EXPECT_EQ(gpu.owner_uuid(pinned.data() + 8), "host") << "not requested";
  });
}

TEST(EmulatedDevices, TellTheirCondition) {
  on_gpu([](Device& gpu) {
    const DeviceCondition condition = gpu.condition();
    EXPECT_GT(condition.clock_hz.value_or(0), 1e6);
    EXPECT_EQ(condition.throttled, false);
  });
}

TEST(EmulatedDevices, TellTheErrorsThatTheDriverCounts) {
  on_gpu([](Device& gpu) {
    EXPECT_EQ(gpu.errors().ecc_corrected, 0);
    EXPECT_EQ(gpu.errors().ecc_uncorrected, 0);
    EXPECT_EQ(gpu.errors().xid, 0);
  });
}

TEST(EmulatedDevices, RefuseAnOpThatTheyLack) {
  on_gpu([](Device& gpu) {
    const Op unknown{.name = "no_such_op"};
    const OpInstance op{.op = &unknown};
    EXPECT_EQ(error_of(Failure::not_here, [&] { gpu.prepare(op, {}); }),
              "cuda has no op no_such_op");
  });
}

TEST(EmulatedDevices, RefuseAFaultThatTheyDoNotKnow) {
  on_gpu(
      [](Device& gpu) {
        const OpInstance op = instance("add", DType::f32, {{"n", "64"}});
        const Rank rank(gpu, op);
        expect_has(error_of(Failure::internal, [&] { gpu.prepare(op, rank.binding); }),
                   "no fault is called 'misspelt'");
      },
      {{"ASSAY_CUDA_FAULT", "misspelt"}});
}

TEST(EmulatedDevices, FlipOneBitOfARightResultWhenTold) {
  on_gpu(
      [](Device& gpu) {
        const OpInstance op =
            instance("device_memcpy", DType::u8,
                     {{"from", "device"}, {"to", "device"}, {"bytes", "64"}, {"by", "kernel"}});
        const Rank rank(gpu, op);
        const auto kernel = gpu.prepare(op, rank.binding);
        EXPECT_FALSE(kernel->may_wait());
        expect_has(kernel->implementation(), "with the injected fault flipped_bit");
        kernel->launch();
        rank.stream->synchronize();
        std::array<std::byte, 64> copied{};
        gpu.download(copied.data(), rank.binding.outputs[0], copied.size());
        EXPECT_EQ(std::ranges::count(copied, std::byte{1}), 63);
        EXPECT_EQ(copied[32], std::byte{0});
      },
      {{"ASSAY_CUDA_FAULT", "flipped_bit"}});
}

TEST(EmulatedDevices, HaveNoMoreMemoryThanTheHost) {
  on_gpu([](Device& gpu) {
    expect_has(error_of(Failure::out_of_memory,
                        [&] { gpu.allocate(std::size_t{1} << 60, Memory::pageable); }),
               "the host has no memory for");
  });
}

TEST(EmulatedDevices, ThatCannotReachEachOtherCopyNothingDirectly) {
  on_gpus(2,
          [](Backend& backend) {
            const auto first = backend.open(0), second = backend.open(1);
            const OpInstance op =
                instance("peer_memcpy", DType::u8,
                         {{"bytes", "64"}, {"access", "direct"}, {"by", "engine"}});
            const Buffer from(*first, 64), to(*second, 64);
            const auto stream = first->create_stream();
            const Binding binding{stream.get(), {from.data()}, {to.data()}};
            EXPECT_EQ(error_of(Failure::not_here, [&] { first->prepare(op, binding); }),
                      "cuda:0 cannot reach the memory of cuda:1");
          },
          {{"ASSAY_EMULATOR_PEERS", "0"}});
}

TEST(EmulatedDevices, ThatAMaskHidesAreNamed) {
  on_gpus(2,
          [](Backend& backend) {
            EXPECT_TRUE(backend.describe().empty());
            ASSERT_EQ(backend.problems().size(), 1U);
            EXPECT_EQ(backend.problems()[0], "no GPU is visible with CUDA_VISIBLE_DEVICES=-1");
          },
          {{"CUDA_VISIBLE_DEVICES", "-1"}});
}

TEST(EmulatedDevices, ThatTheDriverDoesNotFindAreNamed) {
  on_gpus(0, [](Backend& backend) {
    ASSERT_EQ(backend.problems().size(), 1U);
    EXPECT_EQ(backend.problems()[0], "the driver finds no GPU");
  });
}

TEST(EmulatedDevices, OfAMachineAreInTheOrderOfTheMask) {
  on_gpus(2,
          [](Backend& backend) {
            const Visibility seen = backend.visibility();
            ASSERT_EQ(seen.machine.size(), 2U);
            EXPECT_EQ(backend.describe().at(0).uuid, seen.machine[1]);
            EXPECT_EQ(seen.unknown_because, "");
          },
          {{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}});
}

TEST(EmulatedDevices, InTheOrderOfTheirSpeedAreNotCounted) {
  on_gpus(2, [](Backend& backend) {
    const Visibility seen = backend.visibility();
    EXPECT_TRUE(seen.machine.empty());
    expect_has(seen.unknown_because, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
  });
}

TEST(EmulatedDevices, ThatAreSlicesAreNotCounted) {
  on_gpus(1,
          [](Backend& backend) {
            EXPECT_TRUE(backend.describe().at(0).uuid.starts_with("MIG-"));
            expect_has(backend.visibility().unknown_because, "slices");
          },
          {{"ASSAY_EMULATOR_MIG", "1"}, {"ASSAY_EMULATED_GPU", "a100"}});
}

}  // namespace
}  // namespace assay
