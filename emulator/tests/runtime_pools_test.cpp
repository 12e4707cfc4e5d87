#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

constexpr std::size_t bytes = 1 << 10;

void* allocate(cudaStream_t stream, std::size_t size = bytes) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaMallocAsync(&memory, size, stream));
  EXPECT_NE(memory, nullptr);
  return memory;
}

cudaMemPool_t default_pool(int device = 0) {
  cudaMemPool_t pool = nullptr;
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

cudaMemPool_t new_pool(std::size_t max_bytes = 0, int device = 0) {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  properties.maxSize = max_bytes;
  EXPECT_CUDA(cudaMemPoolCreate(&pool, &properties));
  return pool;
}

std::uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

char first_byte(const void* memory) {
  char byte = 0;
  EXPECT_CUDA(cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost));
  return byte;
}

TEST(RuntimePools, MemoryIsUsedInTheOrderOfItsStream) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    for (int round = 0; round < 3; ++round) {
      char* memory = static_cast<char*>(allocate(stream));
      std::vector<char> mine(bytes);
      EXPECT_CUDA(cudaMemsetAsync(memory, 7, bytes, stream));
      EXPECT_CUDA(cudaMemcpyAsync(mine.data(), memory, bytes, cudaMemcpyDeviceToHost, stream));
      EXPECT_EQ(mine, std::vector<char>(bytes, 7));
      EXPECT_CUDA(cudaFreeAsync(memory, stream));
      EXPECT_CUDA(cudaStreamSynchronize(stream));
    }
  });
}

TEST(RuntimePools, AUseBehindTheFreeIsFound) {
  const std::string errors = on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    void* memory = allocate(stream);
    EXPECT_CUDA(cudaFreeAsync(memory, stream));
    EXPECT_CUDA(cudaMemsetAsync(memory, 7, bytes, stream));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
  });
  EXPECT_NE(errors.find("it is at byte 0 of 1024 bytes"), std::string::npos) << errors;
  EXPECT_NE(errors.find("freed"), std::string::npos) << errors;
}

/// The other stream may come first, unless an event forbids it.
TEST(RuntimePools, AUseBeforeTheAllocationIsFound) {
  const std::string errors = on_gpus(1, [] {
    std::atomic<bool> gate = false;
    cudaStream_t stream = new_stream(), other = new_stream();
    RecordedWork::enqueue_gate(gate, stream);
    void* memory = allocate(stream);
    EXPECT_CUDA(cudaMemsetAsync(memory, 7, bytes, other));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(other));
  });
  EXPECT_NE(errors.find("its stream has not come to its allocation"), std::string::npos) << errors;
  on_gpus(1, [] {
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t event = new_event();
    void* memory = allocate(stream);
    EXPECT_CUDA(cudaEventRecord(event, stream));
    EXPECT_CUDA(cudaStreamWaitEvent(other, event, 0));
    EXPECT_CUDA(cudaMemsetAsync(memory, 7, bytes, other));
    EXPECT_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(first_byte(memory), 7);
  });
}

TEST(RuntimePools, FreesAreChecked) {
  on_gpus(1, [] {
    void* memory = allocate(nullptr);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeAsync(static_cast<char*>(memory) + 8, nullptr));
    EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeAsync(memory, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(memory));
    memory = allocate(nullptr);
    EXPECT_CUDA(cudaFree(memory));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeAsync(memory, nullptr));
    // Memory of cudaMalloc is freed in the order of a stream, too.
    EXPECT_CUDA(cudaMalloc(&memory, bytes));
    EXPECT_CUDA(cudaMemsetAsync(memory, 1, bytes, nullptr));
    EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset(memory, 0, bytes));
  });
}

TEST(RuntimePools, FreesThatAreStillToRunDoNotFillTheGpu) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    for (int round = 0; round < 5; ++round) {
      void* memory = allocate(stream, std::size_t{10} << 30);
      EXPECT_CUDA(cudaFreeAsync(memory, stream));
    }
    void* memory = nullptr;
    EXPECT_REFUSED(cudaErrorMemoryAllocation,
                   cudaMallocAsync(&memory, std::size_t{17} << 30, stream));
  });
}

TEST(RuntimePools, CountTheirBytes) {
  on_gpus(1, [] {
    constexpr std::uint64_t mib = 1 << 20;
    cudaMemPool_t pool = default_pool();
    void* first = allocate(nullptr, 3 * mib);
    void* second = allocate(nullptr, mib);
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemCurrent), 4 * mib);
    EXPECT_EQ(number(pool, cudaMemPoolAttrReservedMemCurrent), 4 * mib);
    EXPECT_CUDA(cudaFreeAsync(first, nullptr));
    std::uint64_t threshold = 4 * mib, zero = 0, one = 1;
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemCurrent), mib);
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemHigh), 4 * mib);
    EXPECT_EQ(number(pool, cudaMemPoolAttrReservedMemCurrent), 4 * mib);
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemHigh), mib);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one));
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &zero));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(number(pool, cudaMemPoolAttrReservedMemCurrent), 2 * mib);
    EXPECT_CUDA(cudaFree(second));
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemCurrent), 0U);
    EXPECT_CUDA(cudaMemPoolTrimTo(pool, 0));
    EXPECT_EQ(number(pool, cudaMemPoolAttrReservedMemCurrent), 0U);
    EXPECT_EQ(number(pool, cudaMemPoolAttrReservedMemHigh), 4 * mib);
    int flag = 0;
    EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag));
    EXPECT_EQ(flag, 1);
    flag = 0;
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag));
    flag = 1;
    EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag));
    EXPECT_EQ(flag, 0);
  });
}

TEST(RuntimePools, DevicesHaveACurrentOne) {
  on_gpus(2, [] {
    cudaMemPool_t pool = new_pool(2 * bytes, 1), current = nullptr;
    EXPECT_CUDA(cudaDeviceGetMemPool(&current, 1));
    EXPECT_EQ(current, default_pool(1));
    EXPECT_NE(current, default_pool(0));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, pool));
    EXPECT_CUDA(cudaDeviceSetMemPool(1, pool));
    EXPECT_CUDA(cudaDeviceGetMemPool(&current, 1));
    EXPECT_EQ(current, pool);
    EXPECT_CUDA(cudaSetDevice(1));
    void* memory = allocate(nullptr);
    EXPECT_EQ(number(pool, cudaMemPoolAttrUsedMemCurrent), bytes);
    void* more = nullptr;
    EXPECT_REFUSED(cudaErrorMemoryAllocation, cudaMallocAsync(&more, bytes + 1, nullptr));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPoolDestroy(default_pool(1)));
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPoolTrimTo(pool, 0));
    EXPECT_CUDA(cudaDeviceGetMemPool(&current, 1));
    EXPECT_EQ(current, default_pool(1));
    EXPECT_CUDA(cudaMemset(memory, 1, bytes));  // outlives its pool
    EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
  });
}

TEST(RuntimePools, SayWhichGpusMayUseThem) {
  on_gpus(2, [] {
    cudaMemPool_t pool = new_pool();
    void* memory = nullptr;
    EXPECT_CUDA(cudaMallocFromPoolAsync(&memory, bytes, pool, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSetDevice(1));
    cudaPointerAttributes a{};
    // Peer access does not count for pools.
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(0, 0));
    EXPECT_CUDA(cudaPointerGetAttributes(&a, memory));
    EXPECT_EQ(a.devicePointer, nullptr);
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 1;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
    EXPECT_CUDA(cudaPointerGetAttributes(&a, memory));
    EXPECT_EQ(a.devicePointer, memory);
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
    access.flags = cudaMemAccessFlagsProtNone;
    EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
    EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT_EQ(flags, cudaMemAccessFlagsProtNone);
    access.location.id = 0;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPoolSetAccess(pool, &access, 1));
  });
}

TEST(RuntimePools, OfOtherPlacesAreRefused) {
  const std::string errors = on_gpus(1, [] {
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.location.type = cudaMemLocationTypeDevice;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &properties));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    EXPECT_REFUSED(cudaErrorNotSupported, cudaMemPoolCreate(&pool, &properties));
  });
  EXPECT_NE(errors.find("a memory pool that other processes may use is not emulated"),
            std::string::npos)
      << errors;
}

TEST(RuntimePools, GraphsHaveMemoryOfTheirOwn) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    void* mine = nullptr;
    EXPECT_CUDA(cudaMalloc(&mine, bytes));
    void* outside = allocate(stream);
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    void* memory = allocate(stream);
    EXPECT_CUDA(cudaMemsetAsync(memory, 5, bytes, stream));
    EXPECT_CUDA(cudaMemcpyAsync(mine, memory, bytes, cudaMemcpyDeviceToDevice, stream));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeAsync(outside, stream));
    EXPECT_CUDA(cudaFreeAsync(memory, stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 2; ++round) {
      EXPECT_CUDA(cudaMemset(mine, 0, bytes));
      EXPECT_CUDA(cudaDeviceSynchronize());
      EXPECT_CUDA(cudaGraphLaunch(executable, stream));
      EXPECT_CUDA(cudaStreamSynchronize(stream));
      EXPECT_EQ(first_byte(mine), 5);
    }
    EXPECT_EQ(number(default_pool(), cudaMemPoolAttrUsedMemCurrent), bytes);  // `outside`
    EXPECT_CUDA(cudaMemsetAsync(memory, 5, bytes, stream));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
  });
}

}  // namespace
}  // namespace emulator
