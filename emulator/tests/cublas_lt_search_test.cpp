#include <algorithm>
#include <set>

#include "emulator/libraries/cublas_lt/algorithms.h"
#include "emulator/tests/cublas_lt_support.h"

namespace emulator {
namespace {

TEST(CublasLtSearch, KeepsTheReductionSchemesTheWorkspaceAndTheCount) {
  const Product product(f32, 64, 64, 256);
  const auto schemes = [&] {
    std::set<std::uint32_t> seen;
    for (const auto& result : product.found()) {
      std::uint32_t scheme = 0;
      std::size_t written = 0;
      EXPECT_EQ(
          cublasLtMatmulAlgoConfigGetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                               &scheme, sizeof scheme, &written),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(written, sizeof scheme);
      seen.insert(scheme);
    }
    return seen;
  };
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0, 1, 2, 4})) << "everything by default";
  product.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                 std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0, 2}));
  product.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0});
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0}));
  cublasLtMatmulHeuristicResult_t one{};
  int count = 0;
  EXPECT_EQ(
      cublasLtMatmulAlgoGetHeuristic(product.handle, product.description, product.a, product.b,
                                     product.d, product.d, product.preference, 1, &one, &count),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST(CublasLtSearch, ProposesSomeThatAreRefused) {
  const Product product(f32, 64, 64, 256);
  const OnGpu<float> a(std::vector<float>(64 * 256, 1));
  const OnGpu<float> d(64 * 64);
  int by_search = 0;
  int when_launched = 0;
  for (const auto& result : product.found()) {
    if (result.state != CUBLAS_STATUS_SUCCESS) {
      ++by_search;
    } else if (product.run(a.data(), a.data(), d.data(), &result.algo) ==
               CUBLAS_STATUS_NOT_SUPPORTED) {
      ++when_launched;
    }
  }
  EXPECT_EQ(by_search, 1);
  EXPECT_EQ(when_launched, 1);
}

TEST(CublasLtSearch, LeavesOnlyUnalignedAlgorithmsToUnalignedMatrices) {
  const auto alignment_is_enough = [](std::int64_t leading, std::uint32_t preferred) {
    const Product product(f32, 15, 9, leading);
    if (preferred != 0) {
      product.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, preferred);
    }
    std::set<int> ids;
    for (const auto& result : product.found()) {
      int id = -1;
      std::size_t written = 0;
      cublasLtMatmulAlgoConfigGetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                           &written);
      ids.insert(id);
    }
    return ids.contains(66);
  };
  EXPECT_FALSE(alignment_is_enough(64, 0)) << "m = 15: D's columns";
  EXPECT_FALSE(alignment_is_enough(33, 0));
  const Product product(f32, 16, 16, 64);
  EXPECT_GT(product.found().size(), 4U);
  product.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{4});
  EXPECT_LE(product.found().size(), 3U);
}

TEST(CublasLtSearch, FailsWithTheFaultOfInvalidPlans) {
  const Product product(f32, 16, 16, 16);
  const WithFault fault("invalid_plans");
  std::vector<cublasLtMatmulHeuristicResult_t> found;
  EXPECT_EQ(product.search(found), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(found.empty());
}

TEST(CublasLtSearch, ASerializedAlgorithmIsChecked) {
  const Product product(f32, 64, 64, 256);
  const auto check = [&](const cublasLtMatmulAlgo_t& algorithm, std::size_t* bytes = nullptr) {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(product.handle, product.description, product.a, product.b,
                                product.d, product.d, &algorithm, &result);
    if (bytes != nullptr) *bytes = result.workspaceSize;
    return status;
  };
  for (const auto& proposed : product.found()) {
    std::size_t bytes = 1;
    if (check(proposed.algo, &bytes) == CUBLAS_STATUS_SUCCESS) {
      EXPECT_EQ(bytes, proposed.workspaceSize);
    }
  }
  EXPECT_EQ(check({}), CUBLAS_STATUS_INVALID_VALUE);
  const Product other(f64, 64, 64, 256);
  EXPECT_EQ(check(other.found().front().algo), CUBLAS_STATUS_INVALID_VALUE) << "of other types";
}

TEST(CublasLtSearch, TheSeedDrawsTheFastestAlgorithm) {
  using cublas_lt::Algorithm;
  const auto times = [](const char* seed) {
    if (seed == nullptr) {
      unsetenv("ASSAY_EMULATOR_SEED");
    } else {
      setenv("ASSAY_EMULATOR_SEED", seed, 1);
    }
    std::vector<std::int64_t> all;
    for (std::int32_t row = 0; row < 9; ++row) {
      all.push_back(cublas_lt::drawn_time(Algorithm{.row = row}).count());
    }
    return all;
  };
  EXPECT_EQ(times(nullptr), std::vector<std::int64_t>(9, 0));
  EXPECT_EQ(std::ranges::count(times("1"), 0), 1);
  EXPECT_EQ(times("1"), times("10"));
  EXPECT_NE(times("1"), times("2"));
  unsetenv("ASSAY_EMULATOR_SEED");
}

}  // namespace
}  // namespace emulator
