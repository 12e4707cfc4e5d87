#include <cuda_runtime_api.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

cudaError_t enqueue_fault(FaultKind kind, const std::string& text = "a fault") {
  return emulator::enqueue(nullptr, "faulty", [kind, text]() -> Step { throw Fault(kind, text); });
}

TEST(RuntimeErrors, FaultsStickToTheProcess) {
  const std::string errors = on_gpus(2, [] {
    void* memory = nullptr;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMalloc(&memory, 8));
    EXPECT_CUDA(enqueue_fault(FaultKind::illegal_address, "kernel k wrote at 0x0"));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(nullptr));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaMalloc(&memory, 8));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamQuery(stream));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaSetDevice(1));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaFree(memory));
    EXPECT_REFUSED(cudaErrorIllegalAddress, enqueue_fault(FaultKind::trap));
    std::thread([] { EXPECT_REFUSED(cudaErrorIllegalAddress, cudaGetLastError()); }).join();
  });
  EXPECT_EQ(errors, "emulator: kernel k wrote at 0x0\n");
}

TEST(RuntimeErrors, AreLoggedWhereStderrIsHidden) {
  const std::string log = testing::TempDir() + "emulator_log_" + std::to_string(getpid());
  on_gpus(1, [] { report(Fault(FaultKind::trap, "a trap")); }, {{"ASSAY_EMULATOR_LOG", log}});
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, "emulator: a trap");
  std::remove(log.c_str());
}

TEST(RuntimeErrors, EachFaultHasItsError) {
  const auto expect_error = [](FaultKind kind, cudaError_t error, const std::string& text = "") {
    on_gpus(1, [&] {
      EXPECT_CUDA(enqueue_fault(kind, text));
      EXPECT_EQ(cudaDeviceSynchronize(), error);
    });
  };
  expect_error(FaultKind::misaligned_address, cudaErrorMisalignedAddress);
  expect_error(FaultKind::trap, cudaErrorLaunchFailure);
  expect_error(FaultKind::trap, cudaErrorAssert, "f.cu:1: assertion `x` failed");
  expect_error(FaultKind::illegal_instruction, cudaErrorIllegalInstruction);
  expect_error(FaultKind::endless, cudaErrorLaunchTimeout);
  expect_error(FaultKind::race, cudaErrorLaunchFailure);
}

TEST(RuntimeErrors, LibrariesReportFaultsToo) {
  on_gpus(1, [] {
    report(Fault(FaultKind::illegal_address, "a library's"));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  });
}

TEST(RuntimeErrors, OthersAreKeptForTheirThreadUntilAsked) {
  on_gpus(1, [] {
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaSetDevice(7));
    EXPECT_CUDA(cudaDeviceSynchronize());  // a success clears nothing
    std::thread([] { EXPECT_CUDA(cudaGetLastError()); }).join();
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaPeekAtLastError());
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaGetLastError());
    EXPECT_CUDA(cudaGetLastError());
  });
}

TEST(RuntimeErrors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidSurface), "invalid surface");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(RuntimeErrors, ALostGpuFailsForGood) {
  const Environment lost{{"ASSAY_EMULATOR_LOST", "1@3"}};
  on_gpus(
      2,
      [] {
        cudaEvent_t event = new_event();
        for (int i = 0; i < 10; ++i) EXPECT_CUDA(cudaEventRecord(event, nullptr));
        EXPECT_CUDA(cudaSetDevice(1));
        for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_REFUSED(cudaErrorECCUncorrectable, cudaDeviceSynchronize());
        EXPECT_REFUSED(cudaErrorECCUncorrectable, cudaGetLastError());
        EXPECT_REFUSED(cudaErrorECCUncorrectable, cudaSetDevice(0));
      },
      lost);
  on_gpus(2,
          [] {
            EXPECT_REFUSED(cudaErrorDevicesUnavailable, cudaSetDevice(1));
            EXPECT_REFUSED(cudaErrorDevicesUnavailable, cudaGetLastError());
            EXPECT_CUDA(cudaDeviceSynchronize());  // of the other
          },
          {{"ASSAY_EMULATOR_LOST", "1@0"}});
}

TEST(RuntimeErrors, AForkedProcessCannotGoOn) {
  on_gpus(1, [] {
    EXPECT_CUDA(cudaDeviceSynchronize());
    const pid_t child = fork();
    if (child == 0) std::_Exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
}

}  // namespace
}  // namespace emulator
