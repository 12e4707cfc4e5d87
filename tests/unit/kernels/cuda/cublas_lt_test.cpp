#include "kernels/cuda/cublas_lt.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

namespace assay::cuda {
namespace {

using Which = cublasLtMatmulAlgoConfigAttributes_t;

std::map<Which, std::int32_t> configured;

/// As cuBLASLt, refuses all sizes but that of the attribute.
cublasStatus_t configured_attribute(const cublasLtMatmulAlgo_t*, Which which, void* value,
                                    std::size_t bytes, std::size_t*) {
  const bool is_short = which == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ||
                        which == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
  if (bytes != (is_short ? 2U : 4U)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, &configured[which], bytes);
  return CUBLAS_STATUS_SUCCESS;
}

std::string text() { return algorithm_text({}, configured_attribute); }

TEST(CublasLtAlgorithm, IsNamedByItsFirstFourAttributes) {
  configured = {{CUBLASLT_ALGO_CONFIG_ID, 13}, {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, -1}};
  EXPECT_EQ(text(), "algorithm 13, tile 0, stages 0, split-K -1");
}

TEST(CublasLtAlgorithm, IsToldFromOthersByEachAttribute) {
  configured = {{CUBLASLT_ALGO_CONFIG_ID, 11}};
  const std::string plain = text();
  for (int which = CUBLASLT_ALGO_CONFIG_ID; which <= CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
       ++which) {
    configured = {{CUBLASLT_ALGO_CONFIG_ID, 11}};
    configured[static_cast<Which>(which)] = 5;
    EXPECT_NE(text(), plain) << which;
    EXPECT_EQ(text().find("unknown"), std::string::npos) << text();
  }
}

}  // namespace
}  // namespace assay::cuda
