#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/emulated_process.h"

namespace emulator {
namespace {

TEST(RuntimeMemory, CopiesToTheGpuAndBack) {
  on_gpus(1, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 1000));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
    const std::vector<int> sent{3, 1, 4};
    std::vector<int> received(3);
    EXPECT_CUDA(cudaMemcpy(memory, sent.data(), 12, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpy(received.data(), memory, 12, cudaMemcpyDeviceToHost));
    EXPECT_EQ(sent, received);
    EXPECT_CUDA(cudaMemset(memory, 7, 4));
    EXPECT_CUDA(cudaMemcpy(received.data(), memory, 12, cudaMemcpyDefault));
    EXPECT_EQ(received, (std::vector<int>{0x07070707, 1, 4}));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeMemory, NothingIsAllocatedForNoBytes) {
  on_gpus(1, [] {
    int any = 0;
    void* memory = &any;
    EXPECT_CUDA(cudaMalloc(&memory, 0));
    EXPECT_EQ(memory, nullptr);
    EXPECT_CUDA(cudaFree(nullptr));
  });
}

TEST(RuntimeMemory, AFullGpuRefusesAndGoesOn) {
  on_gpus(1, [] {
    void* memory = nullptr;
    EXPECT_REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&memory, std::size_t{1} << 46));
    EXPECT_REFUSED(cudaErrorMemoryAllocation, cudaGetLastError());
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_CUDA(cudaMalloc(&memory, 100));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeMemory, ReportsFreeBytes) {
  on_gpus(1, [] {
    std::size_t before = 0, after = 0, total = 0;
    void* memory = nullptr;
    EXPECT_CUDA(cudaMemGetInfo(&before, &total));
    EXPECT_EQ(total, std::size_t{16} << 30);
    EXPECT_CUDA(cudaMalloc(&memory, 1 << 20));
    EXPECT_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_EQ(before - after, std::size_t{1} << 20);
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeMemory, ASecondFreeIsRefused) {
  on_gpus(1, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 100));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(static_cast<char*>(memory) + 4));
    EXPECT_CUDA(cudaFree(memory));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(memory));
    EXPECT_CUDA(cudaHostAlloc(&memory, 100, cudaHostAllocDefault));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(memory));
    EXPECT_CUDA(cudaFreeHost(memory));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeHost(memory));
  });
}

TEST(RuntimeMemory, CopiesPastAnAllocationAreRefused) {
  on_gpus(1, [] {
    void* memory = nullptr;
    std::vector<char> mine(200);
    EXPECT_CUDA(cudaMalloc(&memory, 100));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpy(memory, mine.data(), 101, cudaMemcpyHostToDevice));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset(static_cast<char*>(memory) + 1, 0, 100));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpy(mine.data(), memory, 10, cudaMemcpyHostToDevice));
    EXPECT_REFUSED(cudaErrorInvalidMemcpyDirection,
                   cudaMemcpy(mine.data(), memory, 10, static_cast<cudaMemcpyKind>(9)));
    EXPECT_CUDA(cudaFree(memory));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset(memory, 0, 1));
  });
}

TEST(RuntimeMemory, TheHostCannotReadAGpu) {
  const Outcome outcome = run_process({{"ASSAY_EMULATED_GPUS", "1"}}, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 100));
    EXPECT_CUDA(cudaMemset(memory, 0, 100));
    EXPECT_CUDA(cudaDeviceSynchronize());
    std::printf("%d\n", *static_cast<volatile int*>(memory));
  });
  EXPECT_NE(outcome.status, 0);  // a signal, or what a sanitizer makes of it
}

TEST(RuntimeMemory, TellsWherePointersBelong) {
  on_gpus(2, [] {
    void* device = nullptr;
    void* pinned = nullptr;
    int pageable = 0;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMalloc(&device, 100));
    EXPECT_CUDA(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable));
    EXPECT_CUDA(cudaSetDevice(0));
    cudaPointerAttributes a{};
    EXPECT_CUDA(cudaPointerGetAttributes(&a, static_cast<char*>(device) + 99));
    EXPECT_EQ(a.type, cudaMemoryTypeDevice);
    EXPECT_EQ(a.device, 1);
    EXPECT_EQ(a.devicePointer, nullptr);  // no peer access
    EXPECT_CUDA(cudaPointerGetAttributes(&a, pinned));
    EXPECT_EQ(a.type, cudaMemoryTypeHost);
    EXPECT_EQ(a.device, 1);
    EXPECT_CUDA(cudaPointerGetAttributes(&a, &pageable));
    EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
    EXPECT_CUDA(cudaFree(device));
    EXPECT_CUDA(cudaFreeHost(pinned));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaPointerGetAttributes(&a, device));
  });
}

TEST(RuntimeMemory, RegistersMemoryOfTheHostOnce) {
  on_gpus(1, [] {
    std::vector<char> mine(8192);
    cudaPointerAttributes a{};
    EXPECT_CUDA(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterDefault));
    EXPECT_REFUSED(cudaErrorHostMemoryAlreadyRegistered,
                   cudaHostRegister(mine.data() + 100, 10, cudaHostRegisterDefault));
    EXPECT_CUDA(cudaPointerGetAttributes(&a, mine.data() + 8191));
    EXPECT_EQ(a.type, cudaMemoryTypeHost);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeHost(mine.data()));
    EXPECT_CUDA(cudaHostUnregister(mine.data()));
    EXPECT_REFUSED(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(mine.data()));
  });
}

TEST(RuntimeMemory, PinnedMemoryKeepsItsFlags) {
  on_gpus(1, [] {
    void* pinned = nullptr;
    unsigned flags = 99;
    EXPECT_CUDA(cudaHostAlloc(&pinned, 100, cudaHostAllocMapped | cudaHostAllocPortable));
    EXPECT_CUDA(cudaHostGetFlags(&flags, static_cast<char*>(pinned) + 1));
    EXPECT_EQ(flags, unsigned{cudaHostAllocMapped | cudaHostAllocPortable});
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaHostGetFlags(&flags, &flags));
    std::vector<char> mine(100);
    EXPECT_REFUSED(cudaErrorNotSupported,
                   cudaHostRegister(mine.data(), 100, cudaHostRegisterReadOnly));
  });
}

TEST(RuntimeMemory, LeaksAreReportedAtTheEnd) {
  const auto leak = [] {
    void* memory = nullptr;
    cudaStream_t stream = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 12345));
    EXPECT_CUDA(cudaHostAlloc(&memory, 54321, cudaHostAllocDefault));
    EXPECT_CUDA(cudaStreamCreate(&stream));
  };
  const std::string errors = on_gpus(1, leak, {{"ASSAY_EMULATOR_LEAKS", "1"}});
  EXPECT_NE(errors.find("12345 bytes of device 0"), std::string::npos) << errors;
  EXPECT_NE(errors.find("54321 bytes of pinned memory"), std::string::npos) << errors;
  EXPECT_NE(errors.find("1 streams"), std::string::npos) << errors;
  EXPECT_EQ(on_gpus(1, leak), "");
  EXPECT_EQ(on_gpus(1,
                    [] {
                      void* memory = nullptr;
                      EXPECT_CUDA(cudaMalloc(&memory, 1));
                      EXPECT_CUDA(cudaFree(memory));
                    },
                    {{"ASSAY_EMULATOR_LEAKS", "1"}}),
            "");
}

TEST(RuntimeMemory, AHostThatReadsAGpusMemoryIsTold) {
  const Outcome outcome = run_process({{"ASSAY_EMULATED_GPUS", "1"}}, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 64));
    EXPECT_EQ(static_cast<volatile int*>(memory)[3], 0);  // ends the process
    std::exit(0);
  });
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.errors.find("emulator: the host uses memory of a GPU at 0x"), std::string::npos)
      << outcome.errors;
  EXPECT_NE(outcome.errors.find("it is at byte 12 of 64 bytes"), std::string::npos)
      << outcome.errors;
}

TEST(RuntimeMemory, RefusedCopiesSayWhy) {
  const std::string errors = on_gpus(1, [] {
    std::vector<char> bytes(100);
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 64));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpy(memory, bytes.data(), 100, cudaMemcpyHostToDevice));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpy(memory, bytes.data(), 64, cudaMemcpyDeviceToDevice));
  });
  EXPECT_NE(errors.find("a copy of 100 bytes to 0x"), std::string::npos) << errors;
  EXPECT_NE(errors.find("cudaMemcpyDeviceToDevice is refused: it goes from memory of the host to "
                        "memory of a GPU"),
            std::string::npos)
      << errors;
}

}  // namespace
}  // namespace emulator
