#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "emulator/tests/emulated_process.h"

// Deprecated, and still in use.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define EXPECT_CU(call) EXPECT_EQ(CUDA_SUCCESS, call)

// Programs of the driver's API.
namespace emulator {
namespace {

const char* const add_ptx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 addend = 7;
.visible .entry add(.param .u64 values, .param .u32 count, .param .u16 factor)
{
  .reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %l<4>; .reg .b16 %h1;
  ld.param.u64 %l1, [values]; ld.param.u32 %r1, [count]; ld.param.u16 %h1, [factor];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 ret;
  mul.wide.u32 %l2, %r2, 4; add.s64 %l1, %l1, %l2;
  mov.u64 %l3, addend; ld.global.u32 %r3, [%l3];
  cvt.u32.u16 %r4, %h1; ld.global.u32 %r5, [%l1]; mad.lo.u32 %r5, %r5, %r4, %r3;
  st.global.u32 [%l1], %r5; ret;
}
.visible .entry stop() { trap; }
)";

/// The first device's context, and the module above.
struct Program {
  Program() {
    EXPECT_CU(cuInit(0));
    EXPECT_CU(cuDeviceGet(&device, 0));
    EXPECT_CU(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_CU(cuCtxSetCurrent(context));
    EXPECT_CU(cuModuleLoadData(&module, add_ptx));
    EXPECT_CU(cuModuleGetFunction(&add, module, "add"));
    EXPECT_CU(cuMemAlloc(&values, 32));
  }
  std::vector<unsigned> results() const {
    std::vector<unsigned> copied(8);
    EXPECT_CU(cuMemcpyDtoH(copied.data(), values, 32));
    return copied;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr values = 0;
};

TEST(Driver, WantsToBeInitialised) {
  on_gpus(2, [] {
    int count = 0;
    CUdeviceptr memory = 0;
    CUcontext context = nullptr;
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(cuInit(0));
    EXPECT_CU(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 2);
    EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_CU(cuCtxGetCurrent(&context));
    EXPECT_EQ(context, nullptr);
  });
  // Calls of the runtime initialise it, and make the primary context once they need one.
  on_gpus(1, [] {
    CUdeviceptr memory = 0;
    void* other = nullptr;
    int count = 0;
    EXPECT_CUDA(cudaGetDeviceCount(&count));
    EXPECT_CU(cuDeviceGetCount(&count));
    EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_CUDA(cudaMalloc(&other, 4));
    EXPECT_CU(cuMemAlloc(&memory, 4));
  });
}

TEST(Driver, DescribesDevices) {
  on_gpus(1, [] {
    EXPECT_CU(cuInit(0));
    CUdevice device = -1;
    EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_CU(cuDeviceGet(&device, 0));
    std::array<char, 64> name{};
    EXPECT_CU(cuDeviceGetName(name.data(), static_cast<int>(name.size()), device));
    EXPECT_NE(std::string(name.data()).find("T4"), std::string::npos) << name.data();
    EXPECT_CU(cuDeviceGetName(name.data(), 6, device));
    EXPECT_EQ(std::strlen(name.data()), 5U);
    int major = 0, minor = 0, warp = 0;
    EXPECT_CU(cuDeviceComputeCapability(&major, &minor, device));
    EXPECT_EQ(10 * major + minor, 75);
    EXPECT_CU(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    EXPECT_EQ(warp, 32);
    std::size_t bytes = 0;
    EXPECT_CU(cuDeviceTotalMem(&bytes, device));
    EXPECT_GT(bytes, std::size_t{10} << 30);
    const char* text = nullptr;
    EXPECT_CU(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &text));
    EXPECT_STREQ(text, "CUDA_ERROR_NOT_FOUND");
    EXPECT_CU(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT_STREQ(text, "out of memory");
    EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(Driver, KeepsAStackOfContexts) {
  on_gpus(2, [] {
    EXPECT_CU(cuInit(0));
    CUcontext first = nullptr, second = nullptr, current = nullptr;
    CUdevice device = -1;
    EXPECT_CU(cuCtxCreate(&first, nullptr, 0, 0));
    EXPECT_CU(cuCtxCreate(&second, nullptr, 0, 1));
    EXPECT_CU(cuCtxGetDevice(&device));
    EXPECT_EQ(device, 1);
    EXPECT_CU(cuCtxPopCurrent(&current));
    EXPECT_EQ(current, second);
    EXPECT_CU(cuCtxGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_CU(cuCtxPushCurrent(second));
    EXPECT_CUDA(cudaGetDevice(&device));  // the runtime's too
    EXPECT_EQ(device, 1);
    EXPECT_CU(cuCtxSetCurrent(first));
    EXPECT_CU(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, first);
    EXPECT_CU(cuCtxDestroy(first));
    EXPECT_EQ(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
    unsigned flags = 0;
    int active = 0;
    CUcontext primary = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_CU(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_EQ(active, 1);
    EXPECT_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_CU(cuDevicePrimaryCtxRelease(0));
  });
}

TEST(Driver, LaunchesKernelsOfModules) {
  on_gpus(1, [] {
    Program program;
    EXPECT_CU(cuMemsetD32(program.values, 1000, 8));
    unsigned count = 5;
    unsigned short factor = 3;
    void* arguments[] = {&program.values, &count, &factor};
    EXPECT_CU(cuLaunchKernel(program.add, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_CU(cuCtxSynchronize());
    EXPECT_EQ(program.results(),
              (std::vector<unsigned>{3007, 3007, 3007, 3007, 3007, 1000, 1000, 1000}));
    // Another addend, and all arguments in one buffer.
    CUdeviceptr addend = 0;
    std::size_t bytes = 0;
    EXPECT_CU(cuModuleGetGlobal(&addend, &bytes, program.module, "addend"));
    EXPECT_EQ(bytes, 4U);
    const unsigned one = 1;
    EXPECT_CU(cuMemcpyHtoD(addend, &one, 4));
    EXPECT_CU(cuCtxSynchronize());  // the copy may still be on its way
    struct {
      CUdeviceptr values;
      unsigned count;
      unsigned short factor;
    } buffer{program.values, 8, 0};
    bytes = 14;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_CU(cuLaunchKernel(program.add, 1, 1, 1, 8, 1, 1, 0, stream, nullptr, extra));
    EXPECT_CU(cuStreamSynchronize(stream));
    EXPECT_EQ(program.results(), std::vector<unsigned>(8, 1));
    bytes = 13;
    EXPECT_EQ(cuLaunchKernel(program.add, 1, 1, 1, 8, 1, 1, 0, stream, nullptr, extra),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(cuStreamDestroy(stream));
    EXPECT_EQ(cuLaunchKernel(program.add, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr),
              CUDA_ERROR_INVALID_VALUE);
    int threads = 0;
    EXPECT_CU(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, program.add));
    EXPECT_EQ(threads, 1024);
    EXPECT_CU(cuModuleUnload(program.module));
    EXPECT_EQ(cuLaunchKernel(program.add, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuModuleUnload(program.module), CUDA_ERROR_INVALID_HANDLE);
  });
}

TEST(Driver, RefusesModules) {
  on_gpus(1, [] {
    Program program;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr variable = 0;
    std::size_t bytes = 0;
    EXPECT_EQ(cuModuleGetFunction(&function, program.module, "sub"), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuModuleGetGlobal(&variable, &bytes, program.module, "add"), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuModuleLoad(&module, "/nowhere/kernels.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_EQ(cuModuleLoadData(&module, "no PTX at all"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(cuModuleLoadData(&module,
                               "\x7f"
                               "ELF....."),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
    std::string text = add_ptx;
    text.replace(text.find("sm_75"), 5, "sm_90");
    EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
    std::array<char, 64> log{};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_75\nfrobnicate;\n", 2, options,
                                 values),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(std::string(log.data()).find("frobnicate"), std::string::npos) << log.data();
    // From a file.
    const std::string path = testing::TempDir() + "driver_test.ptx";
    std::ofstream(path) << add_ptx;
    EXPECT_CU(cuModuleLoad(&module, path.c_str()));
    EXPECT_CU(cuModuleGetFunction(&function, module, "add"));
  });
}

TEST(Driver, TellsTheBlocksThatFillAGpu) {
  on_gpus(1, [] {
    const Program program;
    int multiprocessors = 0, most = 0, blocks = 0, grid = 0, block = 0;
    EXPECT_CU(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    EXPECT_CU(
        cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0));
    EXPECT_CU(cuOccupancyMaxPotentialBlockSize(&grid, &block, program.add, nullptr, 0, 0));
    EXPECT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, program.add, block, 0));
    EXPECT_EQ(block, 1024);  // the largest of those that fill it
    EXPECT_EQ(grid, blocks * multiprocessors);
    EXPECT_CU(cuOccupancyMaxPotentialBlockSize(&grid, &block, program.add, nullptr, 0, 100));
    EXPECT_EQ(block, 64);  // 16 of them are 1024, and 10 of 100 or 96 fewer
    // So much for each thread that large blocks cannot have it.
    EXPECT_CU(cuOccupancyMaxPotentialBlockSizeWithFlags(
        &grid, &block, program.add, [](int threads) { return std::size_t(threads) * 128; }, 0, 0,
        CU_OCCUPANCY_DEFAULT));
    EXPECT_LE(block * 128, most);
    EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, nullptr, program.add, nullptr, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(Driver, LinksPtx) {
  on_gpus(1, [] {
    Program program;
    std::array<char, 64> log{};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    CUlinkState state = nullptr;
    const auto add = [&](CUjitInputType type, std::string text) {
      return cuLinkAddData(state, type, text.data(), text.size(), "it", 0, nullptr, nullptr);
    };
    EXPECT_CU(cuLinkCreate(2, options, values, &state));
    void* image = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_VALUE);  // of nothing
    EXPECT_EQ(add(CU_JIT_INPUT_PTX, ".version 8.0\n.target sm_75\nfrobnicate;\n"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(std::string(log.data()).find("frobnicate"), std::string::npos) << log.data();
    EXPECT_CU(add(CU_JIT_INPUT_PTX, add_ptx));
    EXPECT_CU(add(CU_JIT_INPUT_PTX,
                  ".version 8.0\n.target sm_75\n.address_size 64\n"
                  ".extern .global .align 4 .u32 addend;\n"
                  ".visible .entry set() { st.global.u32 [addend], 20; ret; }\n"));
    EXPECT_CU(cuLinkComplete(state, &image, &bytes));
    EXPECT_EQ(bytes, std::strlen(static_cast<const char*>(image)) + 1);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_CU(cuModuleLoadData(&module, image));
    EXPECT_CU(cuModuleGetFunction(&function, module, "set"));
    EXPECT_CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    CUdeviceptr variable = 0;
    unsigned value = 0;
    EXPECT_CU(cuModuleGetGlobal(&variable, nullptr, module, "addend"));
    EXPECT_CU(cuMemcpyDtoH(&value, variable, sizeof value));
    EXPECT_EQ(value, 20U);
    EXPECT_CU(add(CU_JIT_INPUT_PTX, add_ptx));
    EXPECT_EQ(cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_NE(std::string(log.data()).find("two modules define"), std::string::npos) << log.data();
    EXPECT_CU(cuLinkDestroy(state));
    EXPECT_EQ(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    // From a file, and of a kind that nobody can execute here.
    const std::string path = testing::TempDir() + "driver_test_link.ptx";
    std::ofstream(path) << add_ptx;
    EXPECT_CU(cuLinkCreate(0, nullptr, nullptr, &state));
    EXPECT_EQ(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere/it.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_EQ(add(CU_JIT_INPUT_CUBIN,
                  "\x7f"
                  "ELF....."),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_CU(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
    EXPECT_CU(cuLinkComplete(state, &image, &bytes));
    EXPECT_CU(cuLinkDestroy(state));
  });
}

TEST(Driver, CopiesAndSetsMemory) {
  on_gpus(1, [] {
    Program program;
    CUdeviceptr other = 0, begin = 0;
    std::size_t bytes = 0;
    EXPECT_CU(cuMemAlloc(&other, 32));
    EXPECT_EQ(cuMemAlloc(&begin, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(cuMemsetD8(other, 0xab, 32));
    EXPECT_CU(cuMemsetD16(other + 4, 0x1234, 3));
    EXPECT_CU(cuMemsetD32Async(other + 12, 0x01020304, 2, nullptr));
    EXPECT_EQ(cuMemsetD32(other + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(cuMemcpyDtoD(program.values, other, 32));
    EXPECT_EQ(program.results(),
              (std::vector<unsigned>{0xabababab, 0x12341234, 0xabab1234, 0x01020304, 0x01020304,
                                     0xabababab, 0xabababab, 0xabababab}));
    const unsigned number = 5;
    EXPECT_CU(cuMemcpyHtoDAsync(program.values + 4, &number, 4, nullptr));
    EXPECT_CU(cuMemcpy(program.values, program.values + 4, 4));
    EXPECT_EQ(program.results()[0], 5U);
    EXPECT_CU(cuMemGetAddressRange(&begin, &bytes, other + 9));
    EXPECT_EQ(begin, other);
    EXPECT_EQ(bytes, 32U);
    EXPECT_EQ(cuMemGetAddressRange(&begin, &bytes, 64), CUDA_ERROR_NOT_FOUND);
    EXPECT_CU(cuMemFree(other));
    EXPECT_EQ(cuMemFree(other), CUDA_ERROR_INVALID_VALUE);
    void* pinned = nullptr;
    EXPECT_CU(cuMemAllocHost(&pinned, 64));
    EXPECT_CU(cuMemHostGetDevicePointer(&begin, pinned, 0));
    EXPECT_EQ(pinned, reinterpret_cast<void*>(begin));
    EXPECT_CU(cuMemFreeHost(pinned));
  });
}

TEST(Driver, RecordsEvents) {
  on_gpus(1, [] {
    Program program;
    CUevent begin = nullptr, end = nullptr;
    CUstream stream = nullptr;
    float time_ms = -1;
    EXPECT_CU(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    EXPECT_CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    EXPECT_CU(cuEventRecord(begin, stream));
    EXPECT_CU(cuEventRecord(end, stream));
    EXPECT_CU(cuStreamWaitEvent(stream, end, 0));
    EXPECT_CU(cuEventSynchronize(end));
    EXPECT_CU(cuEventQuery(end));
    EXPECT_CU(cuStreamQuery(stream));
    EXPECT_CU(cuEventElapsedTime(&time_ms, begin, end));
    EXPECT_GE(time_ms, 0);
    EXPECT_CU(cuEventDestroy(begin));
    EXPECT_EQ(cuEventRecord(begin, stream), CUDA_ERROR_INVALID_HANDLE);
  });
}

TEST(Driver, FaultsStick) {
  on_gpus(1, [] {
    Program program;
    CUfunction stop = nullptr;
    EXPECT_CU(cuModuleGetFunction(&stop, program.module, "stop"));
    EXPECT_CU(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuMemFree(program.values), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(Driver, CallsThatAreMissingNameThemselves) {
  const std::string errors = on_gpus(1, [] {
    EXPECT_CU(cuInit(0));
    CUmulticastObjectProp properties{};
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMulticastCreate(&handle, &properties), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuStreamGetCtx"),
              dlsym(RTLD_DEFAULT, "cuStreamGetCtx"));  // the runtime's, by either library
    int value = -1;
    EXPECT_CU(
        cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT_EQ(value, 0);
  });
  EXPECT_NE(errors.find("cuMulticastCreate is not emulated"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator
