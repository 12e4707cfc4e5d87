#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "emulator/runtime/gpus.h"
#include "emulator/runtime/watchdog.h"
#include "emulator/runtime/work.h"
#include "emulator/tests/emulated_process.h"

// Widths of banks of shared memory: programs still set them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace emulator {
namespace {

/// The physical GPUs that a process with this environment sees, out of 4: "0123".
std::string visible(const Environment& environment) {
  return on_gpus(
      4,
      [] {
        int count = -1;
        const cudaError_t error = cudaGetDeviceCount(&count);
        EXPECT_EQ(error, count == 0 ? cudaErrorNoDevice : cudaSuccess);
        for (int device = 0; device < count; ++device) std::fprintf(stderr, "%d", gpu_of(device));
      },
      environment);
}

std::string visible_by_mask(const std::string& mask) {
  return visible({{"CUDA_VISIBLE_DEVICES", mask}});
}

TEST(RuntimeDevices, AreSeenThroughTheMask) {
  EXPECT_EQ(visible({}), "0123");
  EXPECT_EQ(visible_by_mask("2"), "2");
  EXPECT_EQ(visible_by_mask("3,0, 1"), "301");
  EXPECT_EQ(visible_by_mask(""), "");
  EXPECT_EQ(visible_by_mask("-1"), "");
  EXPECT_EQ(visible_by_mask("1,9,2"), "1");  // what follows an invalid entry is hidden
  EXPECT_EQ(visible_by_mask("1,-1,2"), "1");
  EXPECT_EQ(visible_by_mask("1,x"), "1");
  EXPECT_EQ(visible_by_mask("1,1"), "");
}

TEST(RuntimeDevices, AreMaskedByUuidOrItsBeginning) {
  const std::string uuid = uuid_of(2);
  EXPECT_EQ(uuid.size(), 40U);
  EXPECT_EQ(visible_by_mask(uuid), "2");
  EXPECT_EQ(visible_by_mask(uuid.substr(0, 12) + "," + uuid_of(0)), "20");
  EXPECT_EQ(visible_by_mask("GPU-"), "");  // ambiguous
  EXPECT_EQ(visible_by_mask("GPU-ffffffff-0"), "");
}

TEST(RuntimeDevices, AreCountedByBusOrByTheFastestFirst) {
  EXPECT_EQ(visible({{"ASSAY_EMULATOR_FASTEST", "2"}}), "2013");
  EXPECT_EQ(visible({{"ASSAY_EMULATOR_FASTEST", "2"}, {"CUDA_VISIBLE_DEVICES", "0,3"}}), "23");
  EXPECT_EQ(visible({{"ASSAY_EMULATOR_FASTEST", "2"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}),
            "0123");
}

TEST(RuntimeDevices, ThereMayBeNone) {
  on_gpus(0, [] {
    int any = 7;
    EXPECT_REFUSED(cudaErrorNoDevice, cudaGetDeviceCount(&any));
    EXPECT_EQ(any, 0);
    EXPECT_REFUSED(cudaErrorNoDevice, cudaSetDevice(0));
    void* memory = nullptr;
    EXPECT_REFUSED(cudaErrorNoDevice, cudaMalloc(&memory, 1));
    EXPECT_CUDA(cudaRuntimeGetVersion(&any));
    EXPECT_EQ(any, CUDART_VERSION);
  });
}

TEST(RuntimeDevices, InExclusiveModeRefuseASecondProcess) {
  char folder[] = "/tmp/exclusive-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string gpu1 = std::string(folder) + "/gpu1";
  const int held = open(gpu1.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(held, LOCK_EX), 0);  // as a second process would
  on_gpus(2,
          [] {
            int mode = 0;
            EXPECT_CUDA(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0));
            EXPECT_EQ(mode, cudaComputeModeExclusiveProcess);
            EXPECT_REFUSED(cudaErrorDevicesUnavailable, cudaSetDevice(1));
            EXPECT_CUDA(cudaSetDevice(0));
            EXPECT_CUDA(cudaSetDevice(0));
          },
          {{"ASSAY_EMULATOR_EXCLUSIVE", folder}});
  close(held);
  std::filesystem::remove_all(folder);
}

TEST(RuntimeDevices, TellOfMps) {
  for (const char* value : {"0", "1"}) {
    on_gpus(1,
            [&] {
              int is_shared = -1;
              EXPECT_CUDA(cudaDeviceGetAttribute(&is_shared, cudaDevAttrMpsEnabled, 0));
              EXPECT_EQ(is_shared, std::atoi(value));
            },
            {{"ASSAY_EMULATOR_MPS", value}});
  }
}

TEST(RuntimeDevices, LackTheMemoryThatOthersHold) {
  on_gpus(1,
          [] {
            std::size_t free_bytes = 0, total_bytes = 0;
            EXPECT_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
            EXPECT_EQ(total_bytes - free_bytes, std::size_t{8} << 30);
            void* memory = nullptr;
            EXPECT_REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&memory, free_bytes + 4096));
          },
          {{"ASSAY_EMULATOR_OTHERS_BYTES", std::to_string(std::size_t{8} << 30)}});
}

TEST(RuntimeDevices, AreDescribedByDataSheets) {
  on_gpus(1,
          [] {
            cudaDeviceProp gpu{};
            EXPECT_CUDA(cudaGetDeviceProperties(&gpu, 0));
            EXPECT_STREQ(gpu.name, "NVIDIA H100 PCIe (emulated)");
            EXPECT_EQ(10 * gpu.major + gpu.minor, 90);
            EXPECT_EQ(gpu.multiProcessorCount, 114);
            int khz = 0, bits = 0;
            EXPECT_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0));
            EXPECT_CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
            EXPECT_NEAR(2.0 * khz * 1e3 * bits / 8, 2.0e12, 0.05e12);
            EXPECT_REFUSED(cudaErrorInvalidValue,
                           cudaDeviceGetAttribute(&khz, static_cast<cudaDeviceAttr>(9999), 0));
            EXPECT_REFUSED(cudaErrorInvalidDevice,
                           cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 1));
          },
          {{"ASSAY_EMULATED_GPU", "h100"}});
}

TEST(RuntimeDevices, TellTheSameInPropertiesAndAttributes) {
  on_gpus(1, [] {
    cudaDeviceProp gpu{};
    EXPECT_CUDA(cudaGetDeviceProperties(&gpu, 0));
    for (const auto& [attribute, property] : std::vector<std::pair<cudaDeviceAttr, int>> {
           {cudaDevAttrCooperativeLaunch, gpu.cooperativeLaunch},
               {cudaDevAttrManagedMemory, gpu.managedMemory},
               {cudaDevAttrMemoryPoolsSupported, gpu.memoryPoolsSupported},
               {cudaDevAttrClusterLaunch, gpu.clusterLaunch},
               {cudaDevAttrConcurrentKernels, gpu.concurrentKernels},
               {cudaDevAttrCanMapHostMemory, gpu.canMapHostMemory},
               {cudaDevAttrAsyncEngineCount, gpu.asyncEngineCount},
               {cudaDevAttrMultiProcessorCount, gpu.multiProcessorCount},
               {cudaDevAttrMaxPitch, static_cast<int>(gpu.memPitch)},
               {cudaDevAttrConcurrentManagedAccess, gpu.concurrentManagedAccess},
               {cudaDevAttrGlobalL1CacheSupported, gpu.globalL1CacheSupported},
               {cudaDevAttrLocalL1CacheSupported, gpu.localL1CacheSupported},
               {cudaDevAttrIsMultiGpuBoard, gpu.isMultiGpuBoard},
               {cudaDevAttrMultiGpuBoardGroupID, gpu.multiGpuBoardGroupID},
               {cudaDevAttrMaxPersistingL2CacheSize, gpu.persistingL2CacheMaxSize},
               {cudaDevAttrMaxAccessPolicyWindowSize, gpu.accessPolicyMaxWindowSize},
               {cudaDevAttrTccDriver, gpu.tccDriver},
               {cudaDevAttrPageableMemoryAccess, gpu.pageableMemoryAccess},
               {cudaDevAttrHostNativeAtomicSupported, gpu.hostNativeAtomicSupported},
               {cudaDevAttrSparseCudaArraySupported, gpu.sparseCudaArraySupported},
               {cudaDevAttrIpcEventSupport, gpu.ipcEventSupported},
#if CUDART_VERSION >= 13000
               {cudaDevAttrNumaId, gpu.deviceNumaId}, {cudaDevAttrNumaConfig, gpu.deviceNumaConfig},
               {cudaDevAttrHostNumaId, gpu.hostNumaId}, {cudaDevAttrMpsEnabled, gpu.mpsEnabled},
#endif
               {cudaDevAttrMaxTexture1DWidth, gpu.maxTexture1D},
               {cudaDevAttrMaxTexture2DHeight, gpu.maxTexture2D[1]},
               {cudaDevAttrMaxTexture2DLinearPitch, gpu.maxTexture2DLinear[2]},
               {cudaDevAttrMaxTexture3DDepthAlt, gpu.maxTexture3DAlt[2]},
               {cudaDevAttrMaxTextureCubemapLayeredLayers, gpu.maxTextureCubemapLayered[1]},
               {cudaDevAttrMaxSurface2DWidth, gpu.maxSurface2D[0]},
               {cudaDevAttrMaxSurface3DDepth, gpu.maxSurface3D[2]}, {
             cudaDevAttrMaxSurfaceCubemapLayeredWidth, gpu.maxSurfaceCubemapLayered[0]
           }
         }) {
      int value = -1;
      EXPECT_CUDA(cudaDeviceGetAttribute(&value, attribute, 0));
      EXPECT_EQ(value, property) << attribute;
    }
  });
}

TEST(RuntimeDevices, HaveTheLimitsOfTheProgrammingGuide) {
  on_gpus(
      1,
      [] {
        cudaDeviceProp gpu{};
        int ratio = 0;
        EXPECT_CUDA(cudaGetDeviceProperties(&gpu, 0));
        EXPECT_EQ(gpu.memPitch, 2147483647U);
        EXPECT_EQ(gpu.maxTexture1D, 131072);
        EXPECT_EQ(gpu.maxTexture2D[1], 65536);
        EXPECT_EQ(gpu.maxTexture2DLayered[2], 2048);
        EXPECT_EQ(gpu.maxSurface1DLayered[1], 2048);
        EXPECT_EQ(gpu.persistingL2CacheMaxSize, 30 << 20);
        EXPECT_CUDA(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, 0));
        EXPECT_EQ(ratio, 2);
        std::size_t bytes = 1;
        EXPECT_CUDA(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize));
        EXPECT_EQ(bytes, 0U);
        EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 64 << 20));
        EXPECT_CUDA(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize));
        EXPECT_EQ(bytes, std::size_t{30} << 20);
        EXPECT_CUDA(cudaCtxResetPersistingL2Cache());
      },
      {{"ASSAY_EMULATED_GPU", "a100"}});
}

TEST(RuntimeDevices, AreFoundByTheirBus) {
  on_gpus(3,
          [] {
            char text[16];
            for (int device = 0; device < 2; ++device) {
              int found = -1;
              EXPECT_CUDA(cudaDeviceGetPCIBusId(text, sizeof text, device));
              EXPECT_CUDA(cudaDeviceGetByPCIBusId(&found, text));
              EXPECT_EQ(found, device);
              EXPECT_CUDA(cudaDeviceGetByPCIBusId(&found, text + 5));  // without the domain
              EXPECT_EQ(found, device);
              text[10] = '\0';  // without the function
              EXPECT_CUDA(cudaDeviceGetByPCIBusId(&found, text));
              EXPECT_EQ(found, device);
            }
            int found = -1;
            EXPECT_REFUSED(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&found, "0000:01:00.0"));
            EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&found, "bus"));
            cudaDeviceProp wanted{};
            EXPECT_CUDA(cudaChooseDevice(&found, &wanted));
            EXPECT_EQ(found, 0);
          },
          {{"CUDA_VISIBLE_DEVICES", "2,1"}});
}

TEST(RuntimeDevices, KeepTheirFlags) {
  on_gpus(2, [] {
    unsigned flags = 99;
    EXPECT_CUDA(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(flags, unsigned{cudaDeviceMapHost});
    EXPECT_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    EXPECT_CUDA(cudaInitDevice(1, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
    EXPECT_CUDA(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(flags, unsigned{cudaDeviceScheduleBlockingSync | cudaDeviceMapHost});
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(flags, unsigned{cudaDeviceScheduleSpin | cudaDeviceMapHost});
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaSetDeviceFlags(0x100));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield));
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaInitDevice(2, 0, 0));
    cudaFuncCache config = cudaFuncCachePreferEqual;
    EXPECT_CUDA(cudaDeviceGetCacheConfig(&config));
    EXPECT_EQ(config, cudaFuncCachePreferNone);
    EXPECT_CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    EXPECT_CUDA(cudaDeviceGetCacheConfig(&config));
    EXPECT_EQ(config, cudaFuncCachePreferL1);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
    cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
    EXPECT_CUDA(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    EXPECT_CUDA(cudaDeviceGetSharedMemConfig(&banks));
    EXPECT_EQ(banks, cudaSharedMemBankSizeFourByte);
    EXPECT_CUDA(cudaProfilerStart());
    EXPECT_CUDA(cudaProfilerStop());
    int can = 0;
    EXPECT_CUDA(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
    EXPECT_EQ(can, 1);
    EXPECT_REFUSED(cudaErrorInvalidDevice,
                   cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0));
  });
}

TEST(RuntimeDevices, TellWhichFunctionsTheirDriverLacks) {
  const std::string errors = on_gpus(1, [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuStreamGetCtx", &function, 12000,
                                                 cudaEnableDefault, &result));
    EXPECT_EQ(result, cudaDriverEntryPointSuccess);
    EXPECT_NE(function, nullptr);
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuStreamGetCtx", &function, 99000,
                                                 cudaEnableDefault, &result));
    EXPECT_EQ(result, cudaDriverEntryPointVersionNotSufficent);
    EXPECT_EQ(function, nullptr);
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &function, 12000,
                                                 cudaEnableDefault, &result));
    EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
    EXPECT_EQ(function, nullptr);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaGetDriverEntryPointByVersion("", &function, 12000, 0, &result));
  });
  EXPECT_NE(errors.find("cuTensorMapEncodeIm2col of the driver is not emulated"), std::string::npos)
      << errors;
}

TEST(RuntimeDevices, HaveDifferentBusesAndUuids) {
  on_gpus(2, [] {
    std::array<char, 32> first{}, second{};
    EXPECT_CUDA(cudaDeviceGetPCIBusId(first.data(), 32, 0));
    EXPECT_CUDA(cudaDeviceGetPCIBusId(second.data(), 32, 1));
    EXPECT_STRNE(first.data(), second.data());
    EXPECT_EQ(std::string(first.data()).size(), 12U);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(first.data(), 12, 0));
    EXPECT_CUDA(cudaDeviceGetPCIBusId(first.data(), 13, 0));
    EXPECT_NE(uuid_of(0), uuid_of(1));
  });
}

TEST(RuntimeDevices, ASliceIsOneSmallDevice) {
  const Environment slice{{"ASSAY_EMULATOR_MIG", "1"}, {"ASSAY_EMULATED_GPU", "a100"}};
  on_gpus(
      2,
      [] {
        int count = 0, can = -1;
        cudaDeviceProp gpu{};
        EXPECT_CUDA(cudaGetDeviceCount(&count));
        EXPECT_EQ(count, 1);
        EXPECT_EQ(gpu_count(), 2);
        EXPECT_CUDA(cudaGetDeviceProperties(&gpu, 0));
        EXPECT_STREQ(gpu.name, "NVIDIA A100-SXM4-80GB MIG 1g.10gb (emulated)");
        EXPECT_EQ(gpu.multiProcessorCount, 15);
        EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
        EXPECT_EQ(can, 0);
      },
      slice);
}

TEST(RuntimeDevices, EachThreadHasItsOwnCurrentOne) {
  on_gpus(3, [] {
    int device = -1;
    EXPECT_CUDA(cudaSetDevice(2));
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaSetDevice(3));
    EXPECT_CUDA(cudaGetDevice(&device));
    EXPECT_EQ(device, 2);
  });
}

TEST(RuntimeDevices, AnUnknownModelIsNoDefault) {
  const Outcome outcome = run_process(
      {{"ASSAY_EMULATED_GPUS", "1"}, {"ASSAY_EMULATED_GPU", "h1000"}}, [] { cudaSetDevice(0); });
  EXPECT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_NE(outcome.errors.find("h1000"), std::string::npos);
}

TEST(RuntimeDevices, AWatchdogEndsWhatTakesLongerThanADisplayWaits) {
  for (const auto& [gpu, has_watchdog] : {std::pair("rtx3050", 1), std::pair("rtx3090", 0)}) {
    on_gpus(1,
            [expected = has_watchdog] {
              int timeout = -1;
              EXPECT_CUDA(cudaDeviceGetAttribute(&timeout, cudaDevAttrKernelExecTimeout, 0));
              EXPECT_EQ(timeout, expected);
            },
            {{"ASSAY_EMULATED_GPU", gpu}});
  }
  const GpuModel& gpu = *find_gpu_model("rtx3050");
  // 16 multiprocessors x 128 lanes x 1.74 GHz
  EXPECT_DOUBLE_EQ(issue_time_s(gpu, 3'563'520'000'000), 1);
  EXPECT_NO_THROW(check_watchdog(gpu, 2, "kernel"));
  try {
    check_watchdog(gpu, 2.1, "kernel");
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::endless);  // cudaErrorLaunchTimeout
  }
  EXPECT_NO_THROW(check_watchdog(*find_gpu_model("h100"), 100, "kernel"));
}

}  // namespace
}  // namespace emulator
