#include <cuda.h>
#include <cudaTypedefs.h>

#include <numeric>
#include <string>
#include <vector>

#include "emulator/tests/emulated_process.h"

#define EXPECT_CU(call) EXPECT_EQ(CUDA_SUCCESS, call)

// Tensor maps in programs of the driver's API.
namespace emulator {
namespace {

const Environment h100{{"ASSAY_EMULATED_GPU", "h100"}};

// Copies elements 4 to 11 of a tensor, which ends behind element 9.
const char* const copy_ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 out, .param .align 64 .b8 map[128])
{
  .reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %l<4>;
  .shared .align 128 .b8 box[32]; .shared .align 8 .b8 object[8];
  ld.param.u64 %l1, [out]; mov.b64 %l2, map; cvta.param.u64 %l2, %l2;
  mov.u32 %r1, box; mov.u32 %r2, object; mov.u32 %r3, 4;
  mbarrier.init.shared.b64 [%r2], 1;
  cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1],
    [%l2, {%r3}], [%r2];
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32;
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
  @!%p1 bra AGAIN;
  mov.u32 %r4, 0;
NEXT:
  add.u32 %r5, %r1, %r4; ld.shared.u32 %r5, [%r5];
  cvt.u64.u32 %l3, %r4; add.u64 %l3, %l3, %l1; st.global.u32 [%l3], %r5;
  add.u32 %r4, %r4, 4; setp.lt.u32 %p1, %r4, 32;
  @%p1 bra NEXT;
  ret;
}
)";

CUresult encode(PFN_cuTensorMapEncodeTiled_v12000 function, CUtensorMap* map, CUdeviceptr data) {
  const cuuint64_t dim = 10;
  const cuuint32_t box = 8, step = 1;
  return function(map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 1, reinterpret_cast<void*>(data), &dim,
                  nullptr, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

TEST(DriverTensorMap, IsAParameterOfAKernel) {
  on_gpus(
      1,
      [] {
        CUtensorMap map;
        EXPECT_EQ(encode(cuTensorMapEncodeTiled, &map, 0), CUDA_ERROR_NOT_INITIALIZED);
        CUcontext context = nullptr;
        CUmodule module = nullptr;
        CUfunction copy = nullptr;
        CUdeviceptr data = 0, out = 0;
        EXPECT_CU(cuInit(0));
        EXPECT_CU(cuDevicePrimaryCtxRetain(&context, 0));
        EXPECT_CU(cuCtxSetCurrent(context));
        EXPECT_CU(cuModuleLoadData(&module, copy_ptx));
        EXPECT_CU(cuModuleGetFunction(&copy, module, "copy"));
        EXPECT_CU(cuMemAlloc(&data, 40));
        EXPECT_CU(cuMemAlloc(&out, 32));
        std::vector<unsigned> values(10), found(8);
        std::iota(values.begin(), values.end(), 100u);
        EXPECT_CU(cuMemcpyHtoD(data, values.data(), 40));
        EXPECT_CU(encode(cuTensorMapEncodeTiled, &map, data));
        void* parameters[] = {&out, &map};
        EXPECT_CU(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
        EXPECT_CU(cuMemcpyDtoH(found.data(), out, 32));
        EXPECT_EQ(found, (std::vector<unsigned>{104, 105, 106, 107, 108, 109, 0, 0}));
      },
      h100);
}

TEST(DriverTensorMap, IsFoundByName) {
  on_gpus(
      1,
      [] {
        EXPECT_CU(cuInit(0));
        void* function = nullptr;
        CUdriverProcAddressQueryResult found{};
        EXPECT_CU(cuGetProcAddress("cuTensorMapEncodeTiled", &function, 12000,
                                   CU_GET_PROC_ADDRESS_DEFAULT, &found));
        EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SUCCESS);
        EXPECT_EQ(function, reinterpret_cast<void*>(cuTensorMapEncodeTiled));
        EXPECT_EQ(cuGetProcAddress("cuTensorMapFold", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT,
                                   &found),
                  CUDA_ERROR_NOT_FOUND);
        EXPECT_EQ(function, nullptr);
      },
      h100);
}

TEST(DriverTensorMap, OfOtherModesIsRefused) {
  const std::string errors = on_gpus(
      1,
      [] {
        EXPECT_CU(cuInit(0));
        CUtensorMap map;
        EXPECT_EQ(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, nullptr, nullptr,
                                          nullptr, nullptr, nullptr, 1, 1, nullptr,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  CUDA_ERROR_NOT_SUPPORTED);
      },
      h100);
  EXPECT_NE(errors.find("cuTensorMapEncodeIm2col is not emulated"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator
