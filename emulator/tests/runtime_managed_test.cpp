#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/programs/programs.h"
#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

using programs::Result;

constexpr std::size_t page = 4096;

char* managed_bytes(std::size_t bytes) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
  return static_cast<char*>(memory);
}

cudaMemLocation at(cudaMemLocationType type, int id = 0) {
  cudaMemLocation location{};
  location.type = type;
  location.id = id;
  return location;
}

int range_attribute(cudaMemRangeAttribute attribute, const void* memory, std::size_t bytes) {
  int value = 12345;
  EXPECT_CUDA(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
  return value;
}

TEST(RuntimeManaged, HostAndKernelsSeeTheSameNumbers) {
  for (const int gpus : {1, 2}) {
    on_gpus(gpus, [] {
      const Result result = programs::managed_numbers();
      EXPECT_CUDA(result.error);
      EXPECT_EQ(result.values, (std::vector<int>{2, 4, 8}));
    });
  }
}

TEST(RuntimeManaged, VariablesAreOneForHostAndKernels) {
  for (const bool kernel_is_first : {false, true}) {
    on_gpus(1, [&] {
      const Result result = programs::managed_variables(kernel_is_first);
      EXPECT_CUDA(result.error);
      EXPECT_EQ(result.values, (std::vector<int>{9905, 9905, 1}));
    });
  }
}

TEST(RuntimeManaged, RacesAreFound) {
  const std::string errors =
      on_gpus(1, [] { EXPECT_EQ(programs::race_in_managed_memory(), cudaErrorLaunchFailure); });
  EXPECT_NE(errors.find("race"), std::string::npos) << errors;
}

TEST(RuntimeManaged, KernelsThatGoPastItsEndAreFound) {
  const std::string errors =
      on_gpus(1, [] { EXPECT_EQ(programs::write_past_managed_memory(), cudaErrorIllegalAddress); });
  EXPECT_NE(errors.find("just past the end of 32 bytes"), std::string::npos) << errors;
  EXPECT_NE(errors.find("of managed memory"), std::string::npos) << errors;
}

TEST(RuntimeManaged, AllOfItCountsAsWritten) {
  on_gpus(1, [] {
    const Result result = programs::managed_numbers_of_the_host();
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values, std::vector<int>{16});
  });
}

TEST(RuntimeManaged, IsAllocatedAsDocumented) {
  on_gpus(2, [] {
    void* memory = nullptr;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMallocManaged(&memory, 0, cudaMemAttachGlobal));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMallocManaged(nullptr, 8, cudaMemAttachGlobal));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMallocManaged(&memory, 8, cudaMemAttachSingle));
    EXPECT_REFUSED(cudaErrorMemoryAllocation,
                   cudaMallocManaged(&memory, std::size_t{1} << 46, cudaMemAttachGlobal));
    EXPECT_CUDA(cudaSetDevice(1));
    char* bytes = managed_bytes(100);
    EXPECT_EQ(bytes[99], 0);
    bytes[99] = 1;
    EXPECT_CUDA(cudaSetDevice(0));
    cudaPointerAttributes a{};
    EXPECT_CUDA(cudaPointerGetAttributes(&a, bytes + 99));
    EXPECT_EQ(a.type, cudaMemoryTypeManaged);
    EXPECT_EQ(a.device, 1);
    EXPECT_EQ(a.devicePointer, bytes + 99);
    EXPECT_EQ(a.hostPointer, bytes + 99);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeHost(bytes));
    EXPECT_CUDA(cudaFree(bytes));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(bytes));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset(bytes, 0, 1));
  });
}

/// More than the 16 GB of the GPU.
TEST(RuntimeManaged, MayBeMoreThanAGpuHolds) {
  on_gpus(1, [] {
    std::size_t before = 0, after = 0, total = 0;
    EXPECT_CUDA(cudaMemGetInfo(&before, &total));
    std::vector<char*> all;
    for (int i = 0; i < 20; ++i) all.push_back(managed_bytes(std::size_t{1} << 20));
    EXPECT_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
    for (char* each : all) EXPECT_CUDA(cudaFree(each));
  });
}

TEST(RuntimeManaged, SynchronousCopiesAndMemsetsAreDoneWhenTheyReturn) {
  on_gpus(1, [] {
    char* bytes = managed_bytes(64);
    std::vector<char> mine(64, 3);
    EXPECT_CUDA(cudaMemset(bytes, 9, 64));
    EXPECT_EQ(bytes[63], 9);
    EXPECT_CUDA(cudaMemcpy(bytes, mine.data(), 64, cudaMemcpyHostToDevice));
    EXPECT_EQ(bytes[63], 3);
    EXPECT_CUDA(cudaMemcpy(mine.data(), bytes, 64, cudaMemcpyDeviceToHost));
    char* others = managed_bytes(64);
    EXPECT_CUDA(cudaMemcpy(others, bytes, 64, cudaMemcpyDefault));
    EXPECT_EQ(others[0], 3);
    // It stands for memory of the host, too.
    EXPECT_CUDA(cudaMemcpy(mine.data(), bytes, 64, cudaMemcpyHostToHost));
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemsetAsync(bytes, 7, 64, stream));
    EXPECT_EQ(bytes[0], 3);  // too early
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(bytes[0], 7);
  });
}

TEST(RuntimeManaged, AHostThatUsesWhatIsFreedIsTold) {
  for (const bool is_past_the_end : {true, false}) {
    const Outcome outcome = run_process({{"ASSAY_EMULATED_GPUS", "1"}}, [&] {
      char* bytes = managed_bytes(page);
      if (!is_past_the_end) {
        EXPECT_CUDA(cudaFree(bytes));
      }
      EXPECT_EQ(static_cast<volatile char*>(bytes)[is_past_the_end ? page + 8 : 0], 0);
      std::exit(0);
    });
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.errors.find("emulator: the host uses managed memory at 0x"),
              std::string::npos)
        << outcome.errors;
    EXPECT_NE(outcome.errors.find(is_past_the_end ? "8 bytes past the end of 4096 bytes"
                                                  : "of managed memory, freed"),
              std::string::npos)
        << outcome.errors;
  }
}

TEST(RuntimeManaged, LeaksAreReported) {
  const std::string errors =
      on_gpus(1, [] { managed_bytes(777); }, {{"ASSAY_EMULATOR_LEAKS", "1"}});
  EXPECT_NE(errors.find("777 bytes of managed memory"), std::string::npos) << errors;
}

#if CUDART_VERSION >= 13000

TEST(RuntimeManaged, AdviceIsKeptByPages) {
  on_gpus(2, [] {
    char* bytes = managed_bytes(4 * page);
    const auto device_1 = at(cudaMemLocationTypeDevice, 1);
    const auto nowhere = at(cudaMemLocationTypeInvalid);
    EXPECT_CUDA(cudaMemAdvise(bytes, 2 * page, cudaMemAdviseSetReadMostly, nowhere));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeReadMostly, bytes, 2 * page), 1);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeReadMostly, bytes, 2 * page + 1), 0);
    // A part of a page is all of it.
    EXPECT_CUDA(cudaMemAdvise(bytes + page + 1, 1, cudaMemAdviseSetPreferredLocation, device_1));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocation, bytes + page, page), 1);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocation, bytes, 2 * page),
              cudaInvalidDeviceId);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocationType, bytes + page, 1),
              cudaMemLocationTypeDevice);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocationId, bytes + page, 1), 1);
    EXPECT_CUDA(cudaMemAdvise(bytes, 4 * page, cudaMemAdviseSetPreferredLocation,
                              at(cudaMemLocationTypeHost)));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocation, bytes, 4 * page),
              cudaCpuDeviceId);
    EXPECT_CUDA(cudaMemAdvise(bytes + 2 * page, page, cudaMemAdviseSetPreferredLocation, device_1));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocation, bytes + 3 * page, page),
              cudaCpuDeviceId);
    EXPECT_CUDA(cudaMemAdvise(bytes, 4 * page, cudaMemAdviseUnsetPreferredLocation, nowhere));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributePreferredLocation, bytes, 4 * page),
              cudaInvalidDeviceId);
    EXPECT_CUDA(cudaMemAdvise(bytes, 4 * page, cudaMemAdviseSetAccessedBy, device_1));
    EXPECT_CUDA(
        cudaMemAdvise(bytes, page, cudaMemAdviseSetAccessedBy, at(cudaMemLocationTypeDevice, 0)));
    int devices[3] = {};
    EXPECT_CUDA(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy,
                                         bytes, 4 * page));
    EXPECT_EQ(devices[0], 1);
    EXPECT_EQ(devices[1], cudaInvalidDeviceId);
    EXPECT_CUDA(cudaMemAdvise(bytes, 4 * page, cudaMemAdviseUnsetAccessedBy, device_1));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeAccessedBy, bytes, 4 * page),
              cudaInvalidDeviceId);
    EXPECT_CUDA(cudaFree(bytes));
  });
}

TEST(RuntimeManaged, PrefetchesAreRemembered) {
  on_gpus(2, [] {
    char* bytes = managed_bytes(2 * page);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, bytes, page),
              cudaInvalidDeviceId);
    EXPECT_CUDA(cudaMemPrefetchAsync(bytes, page, at(cudaMemLocationTypeDevice, 1), 0, nullptr));
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, bytes, page), 1);
    EXPECT_EQ(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, bytes, 2 * page),
              cudaInvalidDeviceId);
    EXPECT_CUDA(cudaMemPrefetchAsync(bytes, 2 * page, at(cudaMemLocationTypeHost), 0, nullptr));
    int values[2] = {};
    void* data[] = {&values[0], &values[1]};
    std::size_t sizes[] = {4, 4};
    cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeLastPrefetchLocation,
                                          cudaMemRangeAttributeLastPrefetchLocationType};
    EXPECT_CUDA(cudaMemRangeGetAttributes(data, sizes, attributes, 2, bytes, 2 * page));
    EXPECT_EQ(values[0], cudaCpuDeviceId);
    EXPECT_EQ(values[1], cudaMemLocationTypeHost);
    EXPECT_CUDA(cudaDeviceSynchronize());
  });
}

TEST(RuntimeManaged, AdviceAboutOtherMemoryIsRefused) {
  on_gpus(1, [] {
    char* bytes = managed_bytes(page);
    void* device = nullptr;
    EXPECT_CUDA(cudaMalloc(&device, page));
    const auto gpu = at(cudaMemLocationTypeDevice, 0);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPrefetchAsync(device, 1, gpu, 0, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPrefetchAsync(bytes, page + 1, gpu, 0, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPrefetchAsync(bytes, page, gpu, 1, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidDevice,
                   cudaMemPrefetchAsync(bytes, page, at(cudaMemLocationTypeDevice, 1), 0, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemAdvise(device, page, cudaMemAdviseSetReadMostly, gpu));
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaMemAdvise(bytes, page, cudaMemAdviseSetAccessedBy,
                                                         at(cudaMemLocationTypeDevice, 1)));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemAdvise(bytes, page, static_cast<cudaMemoryAdvise>(99), gpu));
    int value = 0;
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemRangeGetAttribute(&value, 8, cudaMemRangeAttributeReadMostly, bytes, 1));
  });
}

#endif

TEST(RuntimeManaged, IsAttachedToStreams) {
  on_gpus(1, [] {
    char* bytes = managed_bytes(page);
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaStreamAttachMemAsync(stream, bytes, 0, cudaMemAttachSingle));
    EXPECT_CUDA(cudaStreamAttachMemAsync(nullptr, bytes, page, cudaMemAttachHost));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaStreamAttachMemAsync(nullptr, bytes, 0, cudaMemAttachSingle));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaStreamAttachMemAsync(stream, bytes, 1, cudaMemAttachSingle));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
  });
}

}  // namespace
}  // namespace emulator
