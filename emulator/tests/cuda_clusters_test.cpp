#include <cuda.h>

#include <vector>

#include "emulator/tests/emulated_process.h"

#define EXPECT_CU(call) EXPECT_EQ(CUDA_SUCCESS, call)

// Clusters by the driver's API.
namespace emulator {
namespace {

const char* const size_ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry size(.param .u64 values)
{
  .reg .b32 %r<3>; .reg .b64 %l<3>;
  ld.param.u64 %l1, [values]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %l2, %r1, 4;
  add.s64 %l1, %l1, %l2; mov.u32 %r2, %cluster_nctarank; st.global.u32 [%l1], %r2; ret;
}
)";

TEST(Driver, LaunchesClusters) {
  on_gpus(1,
          [] {
            CUcontext context = nullptr;
            CUmodule module = nullptr;
            CUfunction function = nullptr;
            CUdeviceptr values = 0;
            EXPECT_CU(cuInit(0));
            EXPECT_CU(cuDevicePrimaryCtxRetain(&context, 0));
            EXPECT_CU(cuCtxSetCurrent(context));
            EXPECT_CU(cuModuleLoadData(&module, size_ptx));
            EXPECT_CU(cuModuleGetFunction(&function, module, "size"));
            EXPECT_CU(cuMemAlloc(&values, 64));
            CUlaunchAttribute attribute{};
            attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attribute.value.clusterDim.x = 4;
            attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
            CUlaunchConfig config{16, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
            void* arguments[] = {&values};
            EXPECT_CU(cuLaunchKernelEx(&config, function, arguments, nullptr));
            std::vector<unsigned> sizes(16);
            EXPECT_CU(cuMemcpyDtoH(sizes.data(), values, 64));
            EXPECT_EQ(sizes, std::vector<unsigned>(16, 4));
            attribute.value.clusterDim.x = 16;
            EXPECT_EQ(cuLaunchKernelEx(&config, function, arguments, nullptr),
                      CUDA_ERROR_INVALID_CLUSTER_SIZE);
            EXPECT_CU(cuFuncSetAttribute(function,
                                         CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
            EXPECT_CU(cuLaunchKernelEx(&config, function, arguments, nullptr));
            EXPECT_CU(cuMemcpyDtoH(sizes.data(), values, 64));
            EXPECT_EQ(sizes, std::vector<unsigned>(16, 16));
            int blocks = 0;
            EXPECT_CU(cuOccupancyMaxPotentialClusterSize(&blocks, function, &config));
            EXPECT_EQ(blocks, 16);
          },
          {{"ASSAY_EMULATED_GPU", "h100"}});
}

}  // namespace
}  // namespace emulator
