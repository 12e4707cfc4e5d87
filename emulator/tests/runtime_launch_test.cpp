#include <cuda_runtime_api.h>

#include <atomic>
#include <string>
#include <vector>

#include "emulator/tests/embedded_kernel.h"
#include "emulator/tests/recorded_work.h"

// Widths of banks of shared memory: programs still set them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace emulator {
namespace {

/// `fill(int* to, int value)`: each thread stores value + its index in the block. `shared`: uses
/// dynamic and 1024 bytes of static shared memory. `bounded`: at most 128 threads. `stop`: traps.
constexpr const char* ptx = R"(
.version 9.0
.target sm_75
.address_size 64

.extern .shared .align 16 .b8 dynamic[];

.visible .entry fill(.param .u64 fill_param_0, .param .u32 fill_param_1)
{
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [fill_param_0];
	ld.param.u32 	%r1, [fill_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r2, %tid.x;
	add.s32 	%r3, %r1, %r2;
	mul.wide.u32 	%rd3, %r2, 4;
	add.s64 	%rd4, %rd2, %rd3;
	st.global.u32 	[%rd4], %r3;
	ret;
}

.visible .entry shared()
{
	.reg .b32 	%r<2>;
	.shared .align 4 .b8 own[1024];
	mov.u32 	%r1, 0;
	st.shared.u32 	[own], %r1;
	st.shared.u32 	[dynamic], %r1;
	ret;
}

.visible .entry bounded()
.maxntid 128, 1, 1
{
	ret;
}

.visible .entry stop()
{
	trap;
}
)";

struct Kernels {
  Kernels() {
    code.add("fill", fill);
    code.add("shared", shared);
    code.add("bounded", bounded);
    code.add("stop", stop);
    code.add("missing", missing);
  }
  char fill = 0, shared = 0, bounded = 0, stop = 0, missing = 0, unregistered = 0;
  EmbeddedKernels code{ptx};
};

cudaError_t launch_fill(const Kernels& kernels, void* to, int value, unsigned threads,
                        cudaStream_t stream = nullptr) {
  void* arguments[] = {&to, &value};
  return cudaLaunchKernel(&kernels.fill, dim3(1), dim3(threads), arguments, 0, stream);
}

cudaError_t launch_shared(const Kernels& kernels, std::size_t dynamic_bytes) {
  return cudaLaunchKernel(&kernels.shared, dim3(1), dim3(1), nullptr, dynamic_bytes, nullptr);
}

TEST(RuntimeLaunch, RunsAKernelWithItsArguments) {
  on_gpus(1, [] {
    const Kernels kernels;
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 16));
    EXPECT_CUDA(launch_fill(kernels, memory, 40, 4));
    std::vector<int> received(4);
    EXPECT_CUDA(cudaMemcpy(received.data(), memory, 16, cudaMemcpyDeviceToHost));
    EXPECT_EQ(received, (std::vector<int>{40, 41, 42, 43}));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeLaunch, GraphsKeepTheArgumentsOfTheirCapture) {
  on_gpus(1, [] {
    const Kernels kernels;
    void* memory = nullptr;
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 4));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_CUDA(launch_fill(kernels, memory, 5, 1, stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; ++i) {
      int received = 0;
      EXPECT_CUDA(cudaMemsetAsync(memory, 0, 4, stream));
      EXPECT_CUDA(cudaGraphLaunch(executable, stream));
      EXPECT_CUDA(cudaMemcpyAsync(&received, memory, 4, cudaMemcpyDefault, stream));
      EXPECT_EQ(received, 5);
    }
  });
}

TEST(RuntimeLaunch, RefusesImpossibleShapes) {
  on_gpus(1, [] {
    const Kernels kernels;
    const auto launch = [&](dim3 grid, dim3 block) {
      return cudaLaunchKernel(&kernels.bounded, grid, block, nullptr, 0, nullptr);
    };
    for (const auto& [grid, block] : std::vector<std::pair<dim3, dim3>>{
             {dim3(0), dim3(1)},
             {dim3(1), dim3(0)},
             {dim3(1), dim3(1025)},
             {dim3(1), dim3(32, 33)},
             {dim3(1), dim3(1, 1, 65)},
             {dim3(1, 65536), dim3(1)},
             {dim3(1, 1, 65536), dim3(1)},
             {dim3(0x80000000), dim3(1)},
         }) {
      EXPECT_REFUSED(cudaErrorInvalidConfiguration, launch(grid, block));
      EXPECT_REFUSED(cudaErrorInvalidConfiguration, cudaGetLastError());
    }
    EXPECT_CUDA(launch(dim3(1), dim3(1, 1, 64)));
    EXPECT_CUDA(cudaDeviceSynchronize());
  });
}

TEST(RuntimeLaunch, RefusesMoreThreadsThanTheKernelSays) {
  on_gpus(1, [] {
    const Kernels kernels;
    const auto launch = [&](unsigned threads) {
      return cudaLaunchKernel(&kernels.bounded, dim3(1), dim3(threads), nullptr, 0, nullptr);
    };
    EXPECT_CUDA(launch(128));
    EXPECT_REFUSED(cudaErrorLaunchOutOfResources, launch(129));
  });
}

TEST(RuntimeLaunch, MuchSharedMemoryMustBeAskedFor) {
  on_gpus(1, [] {
    const Kernels kernels;
    constexpr std::size_t own = 1024, usual = 48 << 10, most = 64 << 10;
    EXPECT_CUDA(launch_shared(kernels, usual - own));
    EXPECT_REFUSED(cudaErrorInvalidValue, launch_shared(kernels, usual - own + 1));
    const auto ask_for = [&](std::size_t bytes) {
      return cudaFuncSetAttribute(&kernels.shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes));
    };
    EXPECT_REFUSED(cudaErrorInvalidValue, ask_for(most - own + 1));
    EXPECT_CUDA(ask_for(most - own));
    EXPECT_CUDA(launch_shared(kernels, most - own));
    EXPECT_REFUSED(cudaErrorInvalidConfiguration, launch_shared(kernels, most - own + 1));
    EXPECT_CUDA(cudaDeviceSynchronize());
  });
}

TEST(RuntimeLaunch, RefusesStreamsOfOtherDevices) {
  on_gpus(2, [] {
    const Kernels kernels;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle,
                   cudaLaunchKernel(&kernels.bounded, dim3(1), dim3(1), nullptr, 0, stream));
  });
}

TEST(RuntimeLaunch, RefusesWhatIsNoKernel) {
  on_gpus(1, [] {
    const Kernels kernels;
    for (const char* symbol : {&kernels.missing, &kernels.unregistered}) {
      EXPECT_REFUSED(cudaErrorInvalidDeviceFunction,
                     cudaLaunchKernel(symbol, dim3(1), dim3(1), nullptr, 0, nullptr));
    }
  });
}

TEST(RuntimeLaunch, RefusesCodeForNewerGpus) {
  on_gpus(1, [] {
    EmbeddedKernels newer(ptx, 90);
    const char symbol = 0;
    newer.add("bounded", symbol);
    EXPECT_REFUSED(cudaErrorNoKernelImageForDevice,
                   cudaLaunchKernel(&symbol, dim3(1), dim3(1), nullptr, 0, nullptr));
  });
}

/// `copy(int* to, const int* from)`: four numbers, by a bulk copy and an mbarrier.
constexpr const char* ptx_of_hopper = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry copy(.param .u64 copy_param_0, .param .u64 copy_param_1)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<5>;
	.shared .align 16 .b8 place[16];
	.shared .align 8 .b8 object[8];
	ld.param.u64 	%rd1, [copy_param_0];
	ld.param.u64 	%rd2, [copy_param_1];
	mbarrier.init.shared.b64 	[object], 1;
	mbarrier.arrive.expect_tx.shared.b64 	_, [object], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes 	[place], [%rd2], 16, [object];
AGAIN:
	mbarrier.try_wait.parity.shared.b64 	%p1, [object], 0;
	@!%p1 bra 	AGAIN;
	ld.shared.v4.u32 	{%r1, %r2, %r3, %r4}, [place];
	st.global.v4.u32 	[%rd1], {%r1, %r2, %r3, %r4};
	ret;
}
)";

TEST(RuntimeLaunch, RunsAsynchronousCopiesFromComputeCapability90On) {
  const auto launch = [](const char* gpu, cudaError_t expected, const std::string& text) {
    on_gpus(1,
            [&] {
              EmbeddedKernels kernels(text, 90);
              const char symbol = 0;
              kernels.add("copy", symbol);
              int* memory = nullptr;
              EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(&memory), 32));
              const std::vector<int> sent{1, 2, 3, 4};
              EXPECT_CUDA(cudaMemcpy(memory + 4, sent.data(), 16, cudaMemcpyHostToDevice));
              const int* from = memory + 4;
              void* arguments[] = {&memory, &from};
              EXPECT_EQ(cudaLaunchKernel(&symbol, dim3(1), dim3(1), arguments, 0, nullptr),
                        expected);
              if (expected != cudaSuccess) return;
              std::vector<int> received(4);
              EXPECT_CUDA(cudaMemcpy(received.data(), memory, 16, cudaMemcpyDeviceToHost));
              EXPECT_EQ(received, sent);
            },
            {{"ASSAY_EMULATED_GPU", gpu}});
  };
  for (const char* gpu : {"h100", "h200", "b200"}) launch(gpu, cudaSuccess, ptx_of_hopper);
  for (const char* gpu : {"t4", "a100", "l40s"})
    launch(gpu, cudaErrorNoKernelImageForDevice, ptx_of_hopper);
  // Instructions of one architecture are not those of the next one.
  std::string specific = ptx_of_hopper;
  specific.insert(specific.find("sm_90") + 5, "a");
  launch("h200", cudaSuccess, specific);
  launch("b200", cudaErrorNoKernelImageForDevice, specific);
}

TEST(RuntimeLaunch, SaysHowToCompileCompressedCode) {
  const std::string errors = on_gpus(1, [] {
    EmbeddedKernels compressed("\x28\xb5\x2f\xfd");
    const char symbol = 0;
    compressed.add("bounded", symbol);
    EXPECT_REFUSED(cudaErrorNoKernelImageForDevice,
                   cudaLaunchKernel(&symbol, dim3(1), dim3(1), nullptr, 0, nullptr));
  });
  EXPECT_NE(errors.find("--no-compress"), std::string::npos) << errors;
}

TEST(RuntimeLaunch, DescribesKernels) {
  on_gpus(1, [] {
    const Kernels kernels;
    cudaFuncAttributes attributes{};
    EXPECT_CUDA(cudaFuncGetAttributes(&attributes, &kernels.shared));
    EXPECT_EQ(attributes.sharedSizeBytes, 1024U);
    EXPECT_EQ(attributes.ptxVersion, 75);
    EXPECT_EQ(attributes.binaryVersion, 75);
    EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
    EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 47 << 10);
    EXPECT_CUDA(cudaFuncGetAttributes(&attributes, &kernels.bounded));
    EXPECT_EQ(attributes.maxThreadsPerBlock, 128);
  });
}

TEST(RuntimeLaunch, TellsHowManyBlocksAreResident) {
  on_gpus(1, [] {
    const Kernels kernels;
    int blocks = -1;
    const auto ask = [&](int threads, std::size_t shared) {
      EXPECT_CUDA(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &kernels.shared, threads, shared));
      return blocks;
    };
    EXPECT_EQ(ask(1024, 0), 1);  // of 1024 threads
    EXPECT_EQ(ask(512, 0), 2);
    EXPECT_EQ(ask(32, 0), 16);        // blocks at most
    EXPECT_EQ(ask(32, 31 << 10), 2);  // of 64 KiB of shared memory
    EXPECT_EQ(ask(32, 200 << 10), 0);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &kernels.shared, 0, 0));
  });
}

TEST(RuntimeLaunch, TellsHowMuchSharedMemoryBlocksMayHave) {
  on_gpus(1, [] {
    const Kernels kernels;
    std::size_t bytes = 0;
    // 64 KiB for two blocks with 1 KiB each of their own.
    EXPECT_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &kernels.shared, 2, 32));
    EXPECT_EQ(bytes, std::size_t{31} << 10);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &kernels.shared, 2, 1024));
  });
}

TEST(RuntimeLaunch, TellsNamesAndParameters) {
  on_gpus(1, [] {
    const Kernels kernels;
    const char* name = nullptr;
    std::size_t offset = 0, bytes = 0;
    cudaKernel_t kernel = nullptr;
    EXPECT_CUDA(cudaFuncGetName(&name, &kernels.fill));
    EXPECT_STREQ(name, "fill");
    EXPECT_CUDA(cudaFuncGetParamInfo(&kernels.fill, 1, &offset, &bytes));
    EXPECT_EQ(offset, 8U);
    EXPECT_EQ(bytes, 4U);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFuncGetParamInfo(&kernels.fill, 2, &offset, &bytes));
    EXPECT_CUDA(cudaGetKernel(&kernel, &kernels.fill));
    EXPECT_CUDA(cudaFuncGetName(&name, kernel));
    EXPECT_STREQ(name, "fill");
    EXPECT_CUDA(cudaFuncSetCacheConfig(&kernels.fill, cudaFuncCachePreferShared));
    EXPECT_CUDA(cudaFuncSetSharedMemConfig(&kernels.fill, cudaSharedMemBankSizeFourByte));
    EXPECT_REFUSED(cudaErrorInvalidDeviceFunction,
                   cudaFuncSetCacheConfig(&kernels.unregistered, cudaFuncCachePreferShared));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaFuncSetCacheConfig(&kernels.fill, static_cast<cudaFuncCache>(7)));
  });
}

TEST(RuntimeLaunch, FaultsOfKernelsStick) {
  on_gpus(1, [] {
    const Kernels kernels;
    EXPECT_CUDA(cudaLaunchKernel(&kernels.stop, dim3(1), dim3(1), nullptr, 0, nullptr));
    EXPECT_CUDA(cudaGetLastError());  // only a wait finds it
    EXPECT_REFUSED(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    EXPECT_REFUSED(cudaErrorLaunchFailure, cudaGetLastError());
  });
}

TEST(RuntimeLaunch, KernelsUseNoFreedMemory) {
  const std::string errors =
      on_gpus(1,
              [] {
                const Kernels kernels;
                void* memory = nullptr;
                EXPECT_CUDA(cudaMalloc(&memory, 16));
                EXPECT_CUDA(launch_fill(kernels, memory, 1, 4));
                EXPECT_CUDA(cudaFree(memory));
                EXPECT_REFUSED(cudaErrorIllegalAddress, cudaDeviceSynchronize());
              },
              {{"ASSAY_EMULATOR_STRICT_FREE", "1"}});
  EXPECT_NE(errors.find("freed"), std::string::npos) << errors;
}

TEST(RuntimeLaunch, KernelsUseMemoryOfStreamsInTheirOrderOnly) {
  for (const bool is_freed : {false, true}) {
    const std::string errors = on_gpus(1, [&] {
      const Kernels kernels;
      std::atomic<bool> gate = is_freed;
      cudaStream_t stream = new_stream(), other = new_stream();
      void* memory = nullptr;
      RecordedWork::enqueue_gate(gate, stream);
      EXPECT_CUDA(cudaMallocAsync(&memory, 64, stream));
      EXPECT_CUDA(launch_fill(kernels, memory, 1, 4, is_freed ? stream : other));
      if (is_freed) {
        EXPECT_CUDA(cudaFreeAsync(memory, stream));
        EXPECT_CUDA(launch_fill(kernels, memory, 1, 4, stream));
      }
      EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(is_freed ? stream : other));
    });
    EXPECT_NE(errors.find(is_freed ? "freed" : "to whose allocation its stream has not come"),
              std::string::npos)
        << errors;
  }
}

TEST(RuntimeLaunch, KernelsUseNoMemoryOfOtherGpusWithoutAccess) {
  const auto fill_peer = [](bool is_enabled, cudaError_t expected) {
    on_gpus(2, [&] {
      const Kernels kernels;
      void* memory = nullptr;
      EXPECT_CUDA(cudaSetDevice(1));
      EXPECT_CUDA(cudaMalloc(&memory, 16));
      EXPECT_CUDA(cudaSetDevice(0));
      if (is_enabled) {
        EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
      }
      EXPECT_CUDA(launch_fill(kernels, memory, 1, 4));
      EXPECT_EQ(cudaDeviceSynchronize(), expected);
    });
  };
  fill_peer(true, cudaSuccess);
  fill_peer(false, cudaErrorIllegalAddress);
}

TEST(RuntimeLaunch, KernelsUsePinnedMemoryButNoPageable) {
  on_gpus(1, [] {
    const Kernels kernels;
    void* pinned = nullptr;
    EXPECT_CUDA(cudaHostAlloc(&pinned, 16, cudaHostAllocDefault));
    EXPECT_CUDA(launch_fill(kernels, pinned, 8, 1));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(*static_cast<int*>(pinned), 8);
    int mine[4] = {};
    EXPECT_CUDA(launch_fill(kernels, mine, 1, 4));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  });
}

}  // namespace
}  // namespace emulator
