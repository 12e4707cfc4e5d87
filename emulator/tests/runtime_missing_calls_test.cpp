#include <cuda_runtime_api.h>

#include <string>

#include "emulator/tests/emulated_process.h"

namespace emulator {
namespace {

TEST(RuntimeMissingCalls, NameThemselvesOnce) {
  const std::string errors = on_gpus(1, [] {
    cudaIpcMemHandle_t handle{};
    int number = 0;
    EXPECT_REFUSED(cudaErrorNotSupported, cudaIpcGetMemHandle(&handle, &number));
    EXPECT_REFUSED(cudaErrorNotSupported, cudaGetLastError());
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_REFUSED(cudaErrorNotSupported, cudaIpcGetMemHandle(&handle, &number));
    EXPECT_REFUSED(cudaErrorNotSupported, cudaIpcCloseMemHandle(&number));
  });
  EXPECT_EQ(errors,
            "emulator: cudaIpcGetMemHandle is not emulated\n"
            "emulator: cudaIpcCloseMemHandle is not emulated\n");
}

}  // namespace
}  // namespace emulator
