// Decisions of the CUDA backend that need no GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/block_scales.h"
#include "kernels/cuda/clock_reading.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/describe.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/matmul_plan.h"
#include "kernels/cuda/nccl.h"
#include "kernels/cuda/nvml.h"
#include "tests/unit/carried_out.h"
#include "tests/unit/scoped_variable.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace assay::cuda {
namespace {
namespace fs = std::filesystem;
using testing_support::ScopedVariable;

TEST(CudaDriver, OfWsl2IsToldByItsKernel) {
  EXPECT_TRUE(is_wsl2("5.15.153.1-microsoft-standard-WSL2"));
  EXPECT_FALSE(is_wsl2("6.8.0-45-generic"));
  EXPECT_FALSE(is_wsl2("5.15.0-1064-azure")) << "a GPU of the virtual machine's own";
}

// --- NCCL ----------------------------------------------------------------------------------------

struct NcclSettings : testing::Test {
  static constexpr const char* names[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"};
  NcclSettings() { clear(); }
  ~NcclSettings() override { clear(); }
  static void clear() {
    for (const char* name : names) unsetenv(name);
  }
};

TEST_F(NcclSettings, ArePartOfTheImplementation) {
  EXPECT_EQ(nccl_settings_text(), "");
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  setenv("NCCL_ALGO", "Ring", 1);
  EXPECT_EQ(nccl_settings_text(), ", NCCL_ALGO=Ring, NCCL_NVLS_ENABLE=0");
}

TEST_F(NcclSettings, KeepSumsFromSwitches) {
  EXPECT_TRUE(may_add_in_switches());
  for (const auto& [algorithms, may] :
       std::vector<std::pair<const char*, bool>>{{"", true},
                                                 {"Ring", false},
                                                 {"Ring,NVLS", true},
                                                 {"^Ring", true},
                                                 {"^NVLS,NVLSTree", false}}) {
    setenv("NCCL_ALGO", algorithms, 1);
    EXPECT_EQ(may_add_in_switches(), may) << algorithms;
  }
  unsetenv("NCCL_ALGO");
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  EXPECT_FALSE(may_add_in_switches());
  setenv("NCCL_NVLS_ENABLE", "2", 1);
  EXPECT_TRUE(may_add_in_switches());
}

// --- Errors --------------------------------------------------------------------------------------

TEST(CudaErrors, BecomeTheStatusThatTheyMean) {
  EXPECT_EQ(failure_of(cudaErrorMemoryAllocation), Failure::out_of_memory);
  EXPECT_EQ(failure_of(cudaErrorNotSupported), Failure::unsupported);
  EXPECT_EQ(failure_of(cudaErrorPeerAccessUnsupported), Failure::not_here);
  EXPECT_EQ(failure_of(cudaErrorNoKernelImageForDevice), Failure::internal) << "never a skip";
  EXPECT_EQ(failure_of(cudaErrorNoDevice), Failure::device_lost);
  EXPECT_EQ(failure_of(cudaErrorInsufficientDriver), Failure::device_lost);
  EXPECT_EQ(failure_of(cudaErrorInvalidValue), Failure::internal);
}

TEST(CudaErrors, ThatSpoilTheContextAreCuredByAFreshProcess) {
  // Those after which the process "must be terminated and relaunched", as their comments say.
  for (const cudaError_t error :
       {cudaErrorContained, cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
        cudaErrorTensorMemoryLeak, cudaErrorMpsClientTerminated, cudaErrorExternalDevice}) {
    EXPECT_TRUE(is_sticky(error)) << cudaGetErrorName(error);
    EXPECT_EQ(failure_of(error), Failure::internal) << cudaGetErrorName(error);
  }
  EXPECT_FALSE(is_sticky(cudaErrorMemoryAllocation));
}

TEST(CudaErrors, NameTheCallTheErrorAndTheWayOut) {
  EXPECT_NO_THROW(check(cudaSuccess, "cudaMalloc"));
  try {
    check(cudaErrorNoKernelImageForDevice, "launch");
    FAIL() << "no error was thrown";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure(), Failure::internal);
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("launch: cudaErrorNoKernelImageForDevice")) << text;
    EXPECT_NE(text.find("ASSAY_CUDA_ARCHITECTURES=native"), std::string::npos) << text;
  }
  try {
    check(cudaErrorIllegalAddress, "cudaStreamSynchronize");
    FAIL() << "no error was thrown";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("the context is lost"), std::string::npos);
  }
}

TEST(CudaErrors, OfTheMachineSayWhatToDo) {
  EXPECT_NE(remedy(cudaErrorInsufficientDriver).find("driver"), std::string::npos);
  EXPECT_EQ(remedy(cudaErrorSystemDriverMismatch), remedy(cudaErrorInsufficientDriver));
  EXPECT_NE(remedy(cudaErrorDevicesUnavailable).find("exclusive"), std::string::npos);
  EXPECT_NE(remedy(cudaErrorSystemNotReady).find("nvidia-fabricmanager"), std::string::npos);
  EXPECT_NE(remedy(cudaErrorECCUncorrectable).find("damaged"), std::string::npos);
  EXPECT_EQ(remedy(cudaErrorInvalidValue), "") << "a mistake of ours";
}

TEST(CudaErrors, OfCublasAreToldApart) {
  EXPECT_NO_THROW(check(CUBLAS_STATUS_SUCCESS, "cublasLtMatmul"));
  const auto failure = [](cublasStatus_t status) {
    try {
      check(status, "cublasLtMatmul");
    } catch (const DeviceError& error) {
      return error.failure();
    }
    return Failure::device_lost;
  };
  EXPECT_EQ(failure(CUBLAS_STATUS_ALLOC_FAILED), Failure::out_of_memory);
  EXPECT_EQ(failure(CUBLAS_STATUS_NOT_SUPPORTED), Failure::unsupported);
  EXPECT_EQ(failure(CUBLAS_STATUS_INVALID_VALUE), Failure::internal) << "a wrong descriptor";
  EXPECT_EQ(failure(CUBLAS_STATUS_ARCH_MISMATCH), Failure::internal);
  EXPECT_EQ(failure(CUBLAS_STATUS_EXECUTION_FAILED), Failure::internal);
}

// --- Libraries -----------------------------------------------------------------------------------

class Libraries : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("assay-cuda-" + std::to_string(getpid()));
};

TEST_F(Libraries, AMissingOneSaysSo) {
  const std::vector<fs::path> folders{folder_, folder_ / "not there"};
  const Library missing("libassay_nowhere.so.1", folders);
  EXPECT_FALSE(missing.is_open());
  EXPECT_EQ(missing.problem(), "libassay_nowhere.so.1 not found");
  EXPECT_EQ(missing.find<int (*)()>("f"), nullptr);
}

TEST_F(Libraries, OneThatDoesNotLoadSaysWhy) {
  std::ofstream(folder_ / "libassay_broken.so.1") << "no library";
  const std::vector<fs::path> folders{folder_};
  const Library broken("libassay_broken.so.1", folders);
  EXPECT_FALSE(broken.is_open());
  EXPECT_NE(broken.problem().find("libassay_broken.so.1"), std::string::npos);
  EXPECT_EQ(broken.problem().find("not found"), std::string::npos) << broken.problem();
}

TEST_F(Libraries, AreFoundWhereTheLoaderFindsThemAndInTheFolders) {
  const Library math("libm.so.6", {});
  ASSERT_TRUE(math.is_open()) << math.problem();
  EXPECT_EQ(math.problem(), "");
  const auto cosine = math.find<double (*)(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(math.find<double (*)(double)>("no_such_function"), nullptr);
  double (*function)(double) = nullptr;
  std::string problem;
  math.bind(function, "cos", problem);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(function, cosine);
  math.bind(function, "no_such_function", problem);
  math.bind(function, "nor_this_one", problem);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(problem, "libm.so.6 has no function no_such_function") << "the first that is missing";

  if (!fs::exists(ASSAY_TEST_MODULE_DIR)) GTEST_SKIP() << "the build tree is not here";
  fs::create_symlink(ASSAY_TEST_MODULE_DIR "/good/assay_refusing.so",
                     folder_ / "libassay_refusing.so.1");
  const std::vector<fs::path> folders{folder_ / "not there", folder_};
  EXPECT_TRUE(Library("libassay_refusing.so.1", folders).is_open());
}

TEST_F(Libraries, ThatAVariableNamesComeBeforeTheLoaders) {
  // The loader finds a libm of its own.
  if (!fs::exists(ASSAY_TEST_MODULE_DIR)) GTEST_SKIP() << "the build tree is not here";
  fs::create_symlink(ASSAY_TEST_MODULE_DIR "/good/assay_refusing.so", folder_ / "libm.so.6");
  const ScopedVariable named("ASSAY_CUDA_LIBS", folder_);
  const Library math("libm.so.6", library_folders());
  ASSERT_TRUE(math.is_open()) << math.problem();
  EXPECT_NE(math.find<void*>("assay_module"), nullptr) << "ours";
}

TEST_F(Libraries, OfCondaAndOfTheUserAreKnown) {
  const std::string python = "lib/python3.12/site-packages/nvidia/nccl/lib";
  fs::create_directories(folder_ / "conda" / python);
  fs::create_directories(folder_ / "home/.local" / python);
  const ScopedVariable conda("CONDA_PREFIX", folder_ / "conda");
  const ScopedVariable home("HOME", folder_ / "home");
  const std::vector<fs::path> folders = library_folders();
  for (const fs::path& wanted :
       {folder_ / "conda/lib", folder_ / "conda" / python, folder_ / "home/.local" / python}) {
    EXPECT_NE(std::ranges::find(folders, wanted), folders.end()) << wanted;
  }
}

TEST_F(Libraries, OfPythonPackagesAreKnown) {
  fs::create_directories(folder_ / "nvidia/nccl/lib");
  fs::create_directories(folder_ / "nvidia/cublas/lib");
  fs::create_directories(folder_ / "nvidia/headers_only/include");
  const std::vector<fs::path> packages{folder_, folder_ / "not there"};
  EXPECT_EQ(package_folders(packages),
            (std::vector<fs::path>{folder_ / "nvidia/cublas/lib", folder_ / "nvidia/nccl/lib"}));
}

TEST_F(Libraries, TheEnvironmentGoesBeforeTheUsualPlaces) {
  const ScopedVariable named("ASSAY_CUDA_LIBS", "/first::/second");
  const std::vector<fs::path> folders = library_folders();
  ASSERT_GE(folders.size(), 4U);
  EXPECT_EQ(folders[0], "/first");
  EXPECT_EQ(folders[1], "/second");
  EXPECT_EQ(folders[2], "") << "the loader's places";
}

// --- Products ------------------------------------------------------------------------------------

std::vector<double> numbers(std::int64_t n, double from) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& value : values) value = from++;
  return values;
}

TEST(ProductPlans, OfALayerGiveItsRows) {
  constexpr std::int64_t batch = 2, in = 3, out = 4;
  const std::vector<double> x = numbers(batch * in, 1);
  const std::vector<double> w = numbers(out * in, -5);
  const std::vector<double> y =
      carried_out(layer_plan(DType::f64, DType::f64, batch, in, out), w, x);
  for (std::size_t r = 0; r < batch; ++r) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < in; ++i) sum += x[r * in + i] * w[o * in + i];
      EXPECT_EQ(y[r * out + o], sum) << r << ", " << o;
    }
  }
}

TEST(ProductPlans, OfALayersGradientsGiveTheirRows) {
  constexpr std::int64_t batch = 2, in = 3, out = 4;
  const std::vector<double> dy = numbers(batch * out, 1);
  const std::vector<double> w = numbers(out * in, -5);
  const std::vector<double> x = numbers(batch * in, 2);
  const auto dx = carried_out(dx_plan(DType::f64, DType::f64, batch, in, out), w, dy);
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t i = 0; i < in; ++i) {
      double sum = 0;
      for (std::size_t o = 0; o < out; ++o) sum += dy[b * out + o] * w[o * in + i];
      EXPECT_EQ(dx[b * in + i], sum) << b << ", " << i;
    }
  }
  const auto dw = carried_out(dw_plan(DType::f64, DType::f64, batch, in, out), x, dy);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      double sum = 0;
      for (std::size_t b = 0; b < batch; ++b) sum += dy[b * out + o] * x[b * in + i];
      EXPECT_EQ(dw[o * in + i], sum) << o << ", " << i;
    }
  }
}

TEST(ProductPlans, OfABatchGiveEachProduct) {
  constexpr std::int64_t batch = 3, m = 2, n = 5, k = 4;
  const std::vector<double> a = numbers(batch * m * k, 1);
  const std::vector<double> b = numbers(batch * k * n, -7);
  const std::vector<double> y =
      carried_out(batched_plan(DType::f64, DType::f64, batch, m, n, k), b, a);
  for (std::size_t i = 0; i < batch; ++i) {
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::size_t l = 0; l < k; ++l) {
          sum += a[(i * m + r) * k + l] * b[(i * k + l) * n + c];
        }
        EXPECT_EQ(y[(i * m + r) * n + c], sum) << i << ", " << r << ", " << c;
      }
    }
  }
}

TEST(ProductPlans, OfMoreProductsThanTheLibraryCountsAreRefused) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_NO_THROW(batched_plan(DType::f32, DType::f32, most, 1, 1, 1));
  EXPECT_THROW(batched_plan(DType::f32, DType::f32, most + 1, 1, 1, 1), DeviceError);
}

TEST(ProductPlans, SayInWhatTheySum) {
  const auto plan = [](DType dtype, DType result) { return layer_plan(dtype, result, 1, 4, 4); };
  EXPECT_EQ(plan(DType::f64, DType::f64).compute, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(plan(DType::f32, DType::f32).compute, CUBLAS_COMPUTE_32F) << "no TF32";
  EXPECT_EQ(plan(DType::bf16, DType::bf16).compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(plan(DType::f16, DType::f32).result, CUDA_R_32F) << "sums before an activation";
  EXPECT_EQ(plan(DType::i8, DType::i32).compute, CUBLAS_COMPUTE_32I);
  EXPECT_EQ(plan(DType::i8, DType::i32).scale, CUDA_R_32I);
  EXPECT_THROW(plan(DType::u8, DType::u8), DeviceError);
}

TEST(ProductPlans, OfTf32AskForItAndHoldF32) {
  const MatmulPlan layer = layer_plan(ProductFormat::tf32, DType::f32, 2, 3, 5);
  EXPECT_EQ(layer.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(layer.factors, CUDA_R_32F);
  EXPECT_EQ(layer.result, CUDA_R_32F);
  EXPECT_EQ(layer.scale, CUDA_R_32F);
  const MatmulPlan batched = batched_plan(ProductFormat::tf32, DType::f32, 2, 3, 5, 7);
  EXPECT_EQ(batched.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(batched.factors, CUDA_R_32F);
  EXPECT_EQ(batched_plan(DType::f32, DType::f32, 2, 3, 5, 7).compute, CUBLAS_COMPUTE_32F);
}

TEST(ProductPlans, OfBf16x9AskForItAndNeverForPlainFp32) {
  const MatmulPlan layer = layer_plan(ProductFormat::bf16x9, DType::f32, 2, 3, 5);
  EXPECT_EQ(layer.compute, compute_bf16x9);
#if CUBLAS_VERSION >= 120900
  EXPECT_EQ(layer.compute, CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
#endif
  EXPECT_EQ(layer.factors, CUDA_R_32F);
  EXPECT_EQ(layer.result, CUDA_R_32F);
  EXPECT_EQ(layer.scale, CUDA_R_32F);
}

TEST(ProductPlans, Of8BitFloatsAreAsTheLibraryTakesThem) {
  const MatmulPlan plan = layer_plan(DType::e4m3, DType::bf16, 3, 32, 48);
  EXPECT_TRUE(plan.a_transposed) << "TN alone";
  EXPECT_EQ(plan.factors, CUDA_R_8F_E4M3);
  EXPECT_EQ(plan.result, CUDA_R_16BF);
  EXPECT_EQ(plan.compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(plan.scale, CUDA_R_32F);
  EXPECT_EQ(plan.fast_accumulation, 0);
  EXPECT_EQ(layer_plan(DType::e4m3, DType::f32, 3, 32, 48).result, CUDA_R_32F) << "before a gelu";
  for (const auto& [in, out] : {std::pair{33, 48}, std::pair{32, 40}}) {
    try {
      layer_plan(DType::e4m3, DType::bf16, 16, in, out);
      ADD_FAILURE() << "not refused: " << in << ", " << out;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.failure(), Failure::unsupported);
      EXPECT_NE(std::string(error.what()).find("in is a multiple of 16 and out of 16"),
                std::string::npos);
    }
  }
  EXPECT_THROW(layer_plan(DType::e5m2, DType::bf16, 16, 16, 16), DeviceError) << "no such product";
}

TEST(ProductPlans, OfScaledBlocksAreAsTheLibraryTakesThem) {
  const MatmulPlan eight = layer_plan(ProductFormat::mxfp8, DType::bf16, 3, 32, 48);
  EXPECT_EQ(eight.factors, CUDA_R_8F_E4M3);
  EXPECT_EQ(eight.blocks, block_format(ProductFormat::mxfp8));
  const MatmulPlan four = layer_plan(ProductFormat::nvfp4, DType::bf16, 3, 64, 96);
  EXPECT_EQ(four.factors, CUDA_R_4F_E2M1);
  EXPECT_EQ(four.a_leading, 64) << "elements, not bytes";
  EXPECT_EQ(four.compute, CUBLAS_COMPUTE_32F);
  EXPECT_THROW(layer_plan(ProductFormat::nvfp4, DType::bf16, 3, 48, 64), DeviceError)
      << "rows of 24 bytes";
  EXPECT_EQ(layer_plan(DType::e4m3, DType::bf16, 3, 32, 48).blocks, nullptr);
}

/// Where NVIDIA's documentation puts the scale of block `inner` of row `outer`.
std::int64_t documented_index(std::int64_t outer, std::int64_t inner, std::int64_t columns) {
  const std::int64_t tile = outer / 128 * ((columns + 3) / 4) + inner / 4;
  return tile * 512 + outer % 128 % 32 * 16 + outer % 128 / 32 * 4 + inner % 4;
}

TEST(TiledScales, LieWhereTheLibraryReadsThem) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {128, 4}, {129, 5}, {300, 7}, {31, 64}}) {
    std::vector<std::int64_t> tiles(static_cast<std::size_t>(tiled_scale_bytes(rows, columns)), -1);
    EXPECT_EQ(tiles.size() % 512, 0U);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        tiles.at(static_cast<std::size_t>(documented_index(row, column, columns))) =
            row * columns + column;
      }
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      ASSERT_EQ(row_major_scale(static_cast<std::int64_t>(i), rows, columns), tiles[i])
          << i << " of " << rows << " x " << columns;
    }
  }
}

TEST(ProductPlans, OfIntegersHaveExtentsThatTheLibraryTakes) {
  EXPECT_NO_THROW(layer_plan(DType::i8, DType::i32, 1, 400, 120));
  for (const auto& [in, out] : {std::pair{3, 4}, std::pair{84, 10}}) {
    try {
      layer_plan(DType::i8, DType::i32, 2, in, out);
      ADD_FAILURE() << "not refused: " << in << ", " << out;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.failure(), Failure::unsupported);
      EXPECT_NE(std::string(error.what()).find("in is a multiple of 4 and out of 4"),
                std::string::npos);
    }
  }
}

TEST(MathModes, OfTensorCoresAreDeclaredAndOthersAreIeee) {
  using enum DType;
  using enum ProductFormat;
  for (const DType dtype : {f64, f32, i8}) EXPECT_EQ(matmul_mode(dtype, 9), MathMode{});
  for (const Format format : std::vector<Format>{f16, bf16, tf32, e4m3}) {
    EXPECT_EQ(matmul_mode(format, 9).rounding, MathMode::Rounding::truncation);
  }
  EXPECT_EQ(matmul_mode(f16, 7).step, 4);
  EXPECT_EQ(matmul_mode(f16, 8).step, 8);
  EXPECT_EQ(matmul_mode(tf32, 8).step, 4);
  EXPECT_EQ(matmul_mode(bf16x9, 10), matmul_mode(bf16, 10)) << "its parts are bf16";
  EXPECT_EQ(matmul_mode(f16, 9).accumulator_bits, 0) << "24, as f32 has";
  EXPECT_EQ(matmul_mode(e4m3, 9).accumulator_bits, 14);
}

TEST(MathModes, AreRefusedWhereAGpuHasNoUnitsForThem) {
  try {
    require_units(ProductFormat::tf32, 7, 5);
    ADD_FAILURE() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure(), Failure::not_here) << "no library's fault: the run stays green";
  }
  EXPECT_THROW(require_units(DType::e4m3, 8, 6), DeviceError);
  EXPECT_NO_THROW(require_units(ProductFormat::tf32, 8, 0));
  EXPECT_NO_THROW(require_units(DType::e4m3, 8, 9));
  EXPECT_THROW(require_units(ProductFormat::mxfp8, 9, 0), DeviceError);
  EXPECT_NO_THROW(require_units(ProductFormat::nvfp4, 10, 0));
  EXPECT_THROW(require_units(ProductFormat::mxfp4, 10, 0), DeviceError)
      << "the library has no such product";
  EXPECT_NO_THROW(require_units(DType::f16, 7, 5));
  for (const auto& [major, minor] : {std::pair{9, 0}, std::pair{11, 0}, std::pair{12, 0}}) {
    EXPECT_THROW(require_units(ProductFormat::bf16x9, major, minor), DeviceError) << major;
  }
  for (const int minor : {0, 3}) EXPECT_NO_THROW(require_units(ProductFormat::bf16x9, 10, minor));
}

TEST(Epilogues, AreTakenOnlyWhereTheyAreTheSameFunction) {
  EXPECT_EQ(epilogue_of("none", false, DType::f32), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue_of("none", true, DType::bf16), CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue_of("relu", true, DType::f16), CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(epilogue_of("relu", false, DType::f32), CUBLASLT_EPILOGUE_RELU);
  for (const bool bias : {false, true}) {
    EXPECT_EQ(epilogue_of("gelu", bias, DType::f32), std::nullopt)
        << "the library's is the tanh form";
    EXPECT_EQ(epilogue_of("gelu_tanh", bias, DType::f32), std::nullopt)
        << "the library's may use an approximate tanh";
  }
  EXPECT_EQ(epilogue_of("none", false, DType::i8), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue_of("none", true, DType::i8), std::nullopt);
}

// --- Collectives ---------------------------------------------------------------------------------

TEST(Collectives, HaveNamesInNccl) {
  EXPECT_EQ(nccl_type(DType::bf16), ncclBfloat16);
  EXPECT_EQ(nccl_type(DType::i64), ncclInt64);
  EXPECT_EQ(nccl_type(DType::i8), ncclInt8);
  EXPECT_EQ(nccl_type(DType::u8), ncclUint8);
  EXPECT_THROW(nccl_type(DType::e4m3), DeviceError);
  EXPECT_EQ(nccl_reduction("avg"), ncclAvg);
  EXPECT_EQ(nccl_reduction("prod"), ncclProd);
  EXPECT_THROW(nccl_reduction("premul_sum"), DeviceError) << "made for each communicator";
  EXPECT_THROW(nccl_reduction("xor"), DeviceError);
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
}

#ifdef NCCL_MAJOR
TEST(Collectives, AreDeclaredAsInNcclsHeader) {
  EXPECT_EQ(sizeof(ncclUniqueId), sizeof(::ncclUniqueId));
  EXPECT_EQ(sizeof(ncclRedOp_t), sizeof(::ncclRedOp_t));
  EXPECT_EQ(sizeof(ncclDataType_t), sizeof(::ncclDataType_t));
  EXPECT_EQ(sizeof(ncclResult_t), sizeof(::ncclResult_t));
  const auto equal = [](int own, int of_header) { EXPECT_EQ(own, of_header); };
  equal(ncclSuccess, ::ncclSuccess);
  equal(ncclInternalError, ::ncclInternalError);
  equal(ncclInProgress, ::ncclInProgress);
  equal(ncclSum, ::ncclSum);
  equal(ncclProd, ::ncclProd);
  equal(ncclMax, ::ncclMax);
  equal(ncclMin, ::ncclMin);
  equal(ncclAvg, ::ncclAvg);
  equal(ncclInt8, ::ncclInt8);
  equal(ncclUint8, ::ncclUint8);
  equal(ncclInt32, ::ncclInt32);
  equal(ncclInt64, ::ncclInt64);
  equal(ncclFloat16, ::ncclFloat16);
  equal(ncclFloat32, ::ncclFloat32);
  equal(ncclFloat64, ::ncclFloat64);
  equal(ncclBfloat16, ::ncclBfloat16);
  equal(ncclScalarHostImmediate, ::ncclScalarHostImmediate);
}
#endif

// --- Descriptions of GPUs ------------------------------------------------------------------------

TEST(CudaDevices, HaveTheNamesThatToolsPrint) {
  const unsigned char bytes[16] = {0x8f, 0x3b, 0x00, 0x01, 0xa2, 0xb3, 0xc4, 0xd5,
                                   0xe6, 0xf7, 0x08, 0x19, 0x2a, 0x3b, 0x4c, 0x5d};
  EXPECT_EQ(uuid_text(bytes, false), "GPU-8f3b0001-a2b3-c4d5-e6f7-08192a3b4c5d");
  EXPECT_TRUE(uuid_text(bytes, true).starts_with("MIG-8f3b"));
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12080), "12.8");
}

TEST(CudaDevices, TellOfLinksAndProcesses) {
  GpuState state;
  EXPECT_EQ(link_text(state), "");
  EXPECT_EQ(process_text(state), "");
  state.pcie = {5, 16};
  EXPECT_EQ(link_text(state), "PCIe 5.0 x16");
  state.nvlinks = 18;
  EXPECT_EQ(link_text(state), "PCIe 5.0 x16; 18 NVLinks");
  state.processes = {{1234, "python"}, {99, ""}};
  EXPECT_EQ(process_text(state), "1234 python; 99");
}

TEST(CudaDevices, AreThrottledByHeatAndPowerCappedByPower) {
  struct Row {
    std::uint64_t reasons;
    bool throttled, power_capped;
    const char* what;
  };
  for (const Row& row :
       {Row{0, false, false, "nothing"}, Row{0x1, false, false, "idle"},
        Row{0x2, false, false, "clocks that an application set"},
        Row{0x4, false, true, "power limit"}, Row{0x8, true, false, "hardware"},
        Row{0x88, true, false, "the hardware, by its power brake"}, Row{0x20, true, false, "heat"},
        Row{0x40, true, false, "heat"}, Row{0x45, true, true, "heat, idle and the power limit"}}) {
    EXPECT_EQ(is_throttled(row.reasons), row.throttled) << row.what;
    EXPECT_EQ(is_power_capped(row.reasons), row.power_capped) << row.what;
  }
}

TEST(ClockReading, TellsCyclesOfOneMultiprocessorOverAUsefulTime) {
  const ClockReading begin{.cycles = 1000, .ns = 5000, .multiprocessor = 3};
  const ClockReading end{
      .cycles = 1000 + 2 * min_clock_ns, .ns = 5000 + min_clock_ns, .multiprocessor = 3};
  EXPECT_EQ(clock_hz(begin, end), 2e9);
  ClockReading other = end;
  other.multiprocessor = 4;
  EXPECT_EQ(clock_hz(begin, other), std::nullopt) << "counters of two multiprocessors";
  ClockReading near = end;
  near.ns -= 1;
  EXPECT_EQ(clock_hz(begin, near), std::nullopt) << "too short to tell";
  ClockReading still = end;
  still.ns = 0;
  EXPECT_EQ(clock_hz(begin, still), std::nullopt) << "the timer did not tick";
  EXPECT_EQ(clock_hz(still, end), std::nullopt);
  EXPECT_EQ(clock_hz(end, begin), std::nullopt);
}

TEST(CudaDevices, AreNotAskedWithoutNvml) {
  const Nvml& nvml = Nvml::instance();
  if (nvml.problem().empty()) GTEST_SKIP() << "NVML is here";
  EXPECT_NE(nvml.problem().find("libnvidia-ml.so.1"), std::string::npos) << nvml.problem();
  EXPECT_EQ(nvml.driver_version(), "");
  EXPECT_TRUE(nvml.uuids().empty());
  EXPECT_EQ(nvml.condition("0000:01:00.0").clock_hz, std::nullopt);
}

TEST(CudaDevices, WhereThereIsNoneTheReasonIsTold) {
  if (describe_gpus().empty()) {
    ASSERT_FALSE(missing_parts().empty());
    EXPECT_NE(missing_parts()[0], "");
  } else {
    EXPECT_TRUE(describe_gpus()[0].uuid.starts_with("GPU-") ||
                describe_gpus()[0].uuid.starts_with("MIG-"));
  }
}

}  // namespace
}  // namespace assay::cuda
