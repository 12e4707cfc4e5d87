#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <string>

#include "emulator/tests/libraries_support.h"

struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

extern "C" {
int nvmlInit_v2();
int nvmlSystemGetDriverVersion(char* to, unsigned bytes);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** to);
int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** to);
int nvmlDeviceGetUUID(void* gpu, char* to, unsigned bytes);
int nvmlDeviceGetMemoryInfo(void* gpu, NvmlMemory* to);
int nvmlDeviceGetClockInfo(void* gpu, unsigned type, unsigned* to);
int nvmlDeviceGetMaxClockInfo(void* gpu, unsigned type, unsigned* to);
int nvmlDeviceGetTemperature(void* gpu, unsigned sensor, unsigned* to);
int nvmlDeviceGetPowerUsage(void* gpu, unsigned* to);
int nvmlDeviceGetEnforcedPowerLimit(void* gpu, unsigned* to);
int nvmlDeviceGetEccMode(void* gpu, int* current, int* pending);
int nvmlDeviceGetTotalEccErrors(void* gpu, int type, int since, unsigned long long* to);
int nvmlDeviceGetNvLinkErrorCounter(void* gpu, unsigned link, int counter, unsigned long long* to);
int nvmlDeviceGetMigMode(void* gpu, unsigned* current, unsigned* pending);
int nvmlDeviceGetMaxPcieLinkGeneration(void* gpu, unsigned* to);
int nvmlDeviceGetCurrPcieLinkGeneration(void* gpu, unsigned* to);
int nvmlDeviceGetNvLinkState(void* gpu, unsigned link, int* to);
int nvmlDeviceGetCurrentClocksThrottleReasons(void* gpu, unsigned long long* to);
int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, NvmlProcess* to);
int nvmlSystemGetProcessName(unsigned pid, char* to, unsigned bytes);
}

namespace emulator {
namespace {

const EmulatedGpus gpus("h100", 3);

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < 16; ++i) {
    std::array<char, 4> hex;
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), 0);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(1, &gpu_), 0);
  }
  void* gpu_ = nullptr;
};

TEST(NvmlBeforeItsStart, IsUninitialised) {
  unsigned count = 0;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(nvmlDeviceGetCount_v2(&count)), testing::ExitedWithCode(1), "");
}

TEST_F(Nvml, KnowsTheGpusOfTheRuntimeByUuidAndPciBus) {
  unsigned count = 0;
  ASSERT_EQ(nvmlDeviceGetCount_v2(&count), 0);
  EXPECT_EQ(count, 3U);
  for (int device = 0; device < 3; ++device) {
    char pci[32] = {};
    ASSERT_EQ(cudaDeviceGetPCIBusId(pci, sizeof pci, device), cudaSuccess);
    void* by_pci = nullptr;
    ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci, &by_pci), 0) << pci;
    char uuid[96] = {};
    ASSERT_EQ(nvmlDeviceGetUUID(by_pci, uuid, sizeof uuid), 0);
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, device), cudaSuccess);
    EXPECT_EQ(uuid, uuid_text(properties.uuid));
  }
  void* none = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:ff:00.0", &none), 6) << "not found";
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("a text", &none), 2);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("00000000:01:00.0", &none), 0) << "NVML's own form";
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(3, &none), 2);
}

TEST_F(Nvml, TellsTheStateOfAnIdleH100) {
  unsigned value = 0;
  EXPECT_EQ(nvmlDeviceGetMaxClockInfo(gpu_, 1, &value), 0);
  EXPECT_EQ(value, 1755U);
  unsigned clock = 0;
  EXPECT_EQ(nvmlDeviceGetClockInfo(gpu_, 1, &clock), 0);
  EXPECT_LT(clock, value);
  EXPECT_EQ(nvmlDeviceGetClockInfo(gpu_, 9, &clock), 2);
  EXPECT_EQ(nvmlDeviceGetTemperature(gpu_, 0, &value), 0);
  EXPECT_EQ(value, 30U);
  unsigned limit = 0;
  EXPECT_EQ(nvmlDeviceGetEnforcedPowerLimit(gpu_, &limit), 0);
  EXPECT_EQ(limit, 350000U) << "milliwatts";
  EXPECT_EQ(nvmlDeviceGetPowerUsage(gpu_, &value), 0);
  EXPECT_LT(value, limit);
  int current = 0;
  int pending = 0;
  EXPECT_EQ(nvmlDeviceGetEccMode(gpu_, &current, &pending), 0);
  EXPECT_EQ(current, 1);
  unsigned long long errors = 1;
  EXPECT_EQ(nvmlDeviceGetTotalEccErrors(gpu_, 1, 0, &errors), 0);
  EXPECT_EQ(errors, 0U);
  EXPECT_EQ(nvmlDeviceGetTotalEccErrors(gpu_, 2, 0, &errors), 2) << "no such kind";
  errors = 1;
  EXPECT_EQ(nvmlDeviceGetNvLinkErrorCounter(gpu_, 0, 3, &errors), 0);
  EXPECT_EQ(errors, 0U);
  EXPECT_EQ(nvmlDeviceGetNvLinkErrorCounter(gpu_, 99, 0, &errors), 2);
  EXPECT_EQ(nvmlDeviceGetMigMode(gpu_, &value, &limit), 0);
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(nvmlDeviceGetMaxPcieLinkGeneration(gpu_, &value), 0);
  EXPECT_EQ(value, 5U);
  EXPECT_EQ(nvmlDeviceGetCurrPcieLinkGeneration(gpu_, &value), 0);
  EXPECT_EQ(value, 1U) << "an idle link slows down";
  int links = 0;
  for (unsigned link = 0; link < 18; ++link) {
    int is_active = 0;
    if (nvmlDeviceGetNvLinkState(gpu_, link, &is_active) == 0) links += is_active;
  }
  EXPECT_EQ(links, 12);
  unsigned long long reasons = 0;
  EXPECT_EQ(nvmlDeviceGetCurrentClocksThrottleReasons(gpu_, &reasons), 0);
  EXPECT_EQ(reasons, 1U) << "idle";
  char driver[96] = {};
  EXPECT_EQ(nvmlSystemGetDriverVersion(driver, sizeof driver), 0);
  EXPECT_EQ(nvmlSystemGetDriverVersion(driver, 3), 7) << "too small";
  EXPECT_EQ(nvmlDeviceGetTemperature(nullptr, 0, &value), 2);
  EXPECT_EQ(nvmlDeviceGetTemperature(&value, 0, &value), 2) << "a handle of nobody";
}

TEST_F(Nvml, ListsThisProcessWhileItHasMemory) {
  const auto count_of = [&](unsigned room, NvmlProcess* to) {
    unsigned count = room;
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(gpu_, &count, to), 0);
    return count;
  };
  std::array<NvmlProcess, 4> list{};
  NvmlMemory before{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(gpu_, &before), 0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  {
    const OnGpu<char> data(std::size_t{1} << 20);
    NvmlMemory with{};
    ASSERT_EQ(nvmlDeviceGetMemoryInfo(gpu_, &with), 0);
    EXPECT_EQ(with.total, with.free + with.used);
    EXPECT_GE(with.used, before.used + (1U << 20));
    ASSERT_EQ(count_of(4, list.data()), 1U);
    EXPECT_EQ(list[0].pid, static_cast<unsigned>(getpid()));
    EXPECT_EQ(list[0].gpu_instance, UINT_MAX);
    unsigned none = 0;
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(gpu_, &none, nullptr), 7);
    EXPECT_EQ(none, 1U) << "what it would need";
  }
  cudaSetDevice(0);
  char name[256] = {};
  EXPECT_EQ(nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), name, sizeof name), 0);
  EXPECT_NE(std::string(name).find("test"), std::string::npos) << name;
  EXPECT_EQ(nvmlSystemGetProcessName(1, name, sizeof name), 6);
}

}  // namespace
}  // namespace emulator
