#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "emulator/libraries/cublas_lt/rules.h"
#include "emulator/libraries/cublas_lt/supported.h"

namespace emulator::cublas_lt {
namespace {

GpuModel gpu(int major, int minor) {
  GpuModel model;
  model.major = major;
  model.minor = minor;
  return model;
}

MatrixLayout layout(cudaDataType_t type, std::uint64_t rows, std::uint64_t cols) {
  MatrixLayout l;
  l.type = type;
  l.rows = rows;
  l.cols = cols;
  l.leading = static_cast<std::int64_t>(rows);
  return l;
}

/// D (32 x 48) of a product in the TN format, with k = 64.
Problem problem(cudaDataType_t factors, cudaDataType_t result, cublasComputeType_t compute,
                cudaDataType_t scale) {
  Problem p;
  p.product.compute = compute;
  p.product.scale = scale;
  p.product.a_op = CUBLAS_OP_T;
  p.a = layout(factors, 64, 32);
  p.b = layout(factors, 64, 48);
  p.c = p.d = layout(result, 32, 48);
  return p;
}
Problem f32() { return problem(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F); }
Problem bf16() { return problem(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F); }
Problem i8() { return problem(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I); }
Problem e4m3() { return problem(CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F); }
Problem scaled_blocks(cudaDataType_t factors, std::int32_t mode) {
  Problem p = problem(factors, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  p.product.a_scale_mode = p.product.b_scale_mode = mode;
  return p;
}
Problem mxfp8() { return scaled_blocks(CUDA_R_8F_E4M3, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0); }
Problem nvfp4() { return scaled_blocks(CUDA_R_4F_E2M1, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3); }

constexpr auto invalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto unsupported = CUBLAS_STATUS_NOT_SUPPORTED;

struct Rule {
  std::string name;
  std::function<Problem()> valid;
  std::function<void(Problem&)> breaks;
  cublasStatus_t status;
  int capability = 90;
};

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, RefuseOneStepAside) {
  const Rule& rule = GetParam();
  Problem p = rule.valid();
  const GpuModel here = gpu(rule.capability / 10, rule.capability % 10);
  if (rule.capability == 90) {
    const Verdict before = refusal(p, here);
    EXPECT_FALSE(before.has_value()) << before->reason;
  }
  rule.breaks(p);
  const Verdict verdict = refusal(p, here);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->status, rule.status) << verdict->reason;
}

void epilogue(Problem& p, std::uint32_t which) { p.product.epilogue = which; }

const std::vector<Rule> rules{
    {"LeadingDimensionBelowRows", f32, [](Problem& p) { p.a.leading = 63; }, invalid},
    {"EmptyMatrix", f32, [](Problem& p) { p.b.cols = 0; }, invalid},
    {"NegativeStride", f32, [](Problem& p) { p.a.stride = -1; }, invalid},
    {"NoBatch", f32, [](Problem& p) { p.a.batch = 0; }, invalid},
    {"RowMajor", f32, [](Problem& p) { p.d.order = CUBLASLT_ORDER_ROW; }, unsupported},
    {"ExtentsDoNotFit", f32, [](Problem& p) { p.product.a_op = CUBLAS_OP_N; }, invalid},
    {"CAndDDifferInType", f32, [](Problem& p) { p.c.type = CUDA_R_16F; }, invalid},
    {"CAndDDifferInExtent", f32, [](Problem& p) { p.c.cols = 47; }, invalid},
    {"BatchesDiffer", f32, [](Problem& p) { p.b.batch = 2; }, invalid},
    {"BatchOfDOverlaps", f32,
     [](Problem& p) {
       p.a.batch = p.b.batch = p.c.batch = p.d.batch = 2;
       p.d.stride = 32 * 48 - 1;
     },
     invalid},
    {"NoSuchOperation", f32, [](Problem& p) { p.product.b_op = 9; }, invalid},
    {"TransposedC", f32, [](Problem& p) { p.product.c_op = CUBLAS_OP_T; }, unsupported},
    {"FillMode", f32, [](Problem& p) { p.product.fill_mode = CUBLAS_FILL_MODE_LOWER; },
     unsupported},
    {"VectorOfAlpha", f32,
     [](Problem& p) { p.product.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE_VECTOR; }, unsupported},
    {"ScaleTypeOfFp32", f32, [](Problem& p) { p.product.scale = CUDA_R_64F; }, unsupported},
    {"ComputeTypeOfFp32", f32, [](Problem& p) { p.product.compute = CUBLAS_COMPUTE_64F; },
     unsupported},
    {"MixedFactors", f32, [](Problem& p) { p.b.type = CUDA_R_16F; }, unsupported},
    {"ResultOfBf16", bf16, [](Problem& p) { p.c.type = p.d.type = CUDA_R_16F; }, unsupported},
    {"FastTf32OfBf16", bf16, [](Problem& p) { p.product.compute = CUBLAS_COMPUTE_32F_FAST_TF32; },
     unsupported},
    {"ScaleOfPlainFloats", bf16, [](Problem& p) { p.product.a_scale = &p; }, invalid},
    {"ScaleOfPlainResult", e4m3, [](Problem& p) { p.product.d_scale = &p; }, invalid},
    {"FastAccumulationOfBf16", bf16, [](Problem& p) { p.product.fast_accumulation = 1; }, invalid},
    {"FastAccumulationOf2", e4m3, [](Problem& p) { p.product.fast_accumulation = 2; }, invalid},
    {"Maximum", e4m3, [](Problem& p) { p.product.d_amax = &p; }, unsupported},
    {"ScaleMode", e4m3, [](Problem& p) { p.product.a_scale_mode = 1; }, unsupported},
    {"BiasOfBf16InFp32", bf16,
     [](Problem& p) {
       epilogue(p, CUBLASLT_EPILOGUE_BIAS);
       p.product.bias_type = CUDA_R_32F;
     },
     unsupported},
    {"BiasOfFp8InFp32", e4m3,
     [](Problem& p) {
       epilogue(p, CUBLASLT_EPILOGUE_BIAS);
       p.product.bias_type = CUDA_R_32F;
     },
     unsupported},
    {"EpilogueOfIntegers", i8, [](Problem& p) { epilogue(p, CUBLASLT_EPILOGUE_RELU); },
     unsupported},
    {"BiasOfIntegers", i8, [](Problem& p) { epilogue(p, CUBLASLT_EPILOGUE_BIAS); }, unsupported},
    {"NoSuchEpilogue", f32, [](Problem& p) { epilogue(p, 3); }, unsupported},
    {"AuxiliaryMatrix", bf16, [](Problem& p) { epilogue(p, CUBLASLT_EPILOGUE_RELU_AUX); },
     unsupported},
    {"IntegersNotTn", i8,
     [](Problem& p) {
       p.product.a_op = CUBLAS_OP_N;
       p.a = layout(CUDA_R_8I, 32, 64);
     },
     unsupported},
    {"IntegersWithOddLeadingDimension", i8, [](Problem& p) { p.a.leading = 66; }, unsupported},
    {"IntegersWithOddLeadingDimensionOfD", i8, [](Problem& p) { p.c.leading = p.d.leading = 33; },
     unsupported},
    {"IntegersWithOddM", i8, [](Problem& p) { p.a.cols = p.c.rows = p.d.rows = 30; }, unsupported},
    {"IntegersWithOddK", i8, [](Problem& p) { p.a.rows = p.b.rows = 62; }, unsupported},
    {"Fp8NotTn", e4m3,
     [](Problem& p) {
       p.product.a_op = CUBLAS_OP_N;
       p.a = layout(CUDA_R_8F_E4M3, 32, 64);
     },
     unsupported},
    {"Fp8WithOddLeadingDimension", e4m3, [](Problem& p) { p.a.leading = 72; }, invalid},
    {"Fp8WithOddK", e4m3, [](Problem& p) { p.a.rows = p.b.rows = 56; }, invalid},
    {"Fp8WithOddLeadingDimensionOfD", e4m3, [](Problem& p) { p.c.leading = p.d.leading = 36; },
     invalid},
    {"Fp8OfE5m2Twice", e4m3, [](Problem& p) { p.a.type = p.b.type = CUDA_R_8F_E5M2; }, unsupported},
    {"Fp8ToE5m2WithoutE5m2", e4m3, [](Problem& p) { p.d.type = CUDA_R_8F_E5M2; }, unsupported},
    {"Fp8WithPedanticCompute", e4m3,
     [](Problem& p) { p.product.compute = CUBLAS_COMPUTE_32F_PEDANTIC; }, unsupported},
    {"Fp8BeforeAda", e4m3, [](Problem&) {}, unsupported, 80},
    {"Fp8NotTnOnAda", e4m3,
     [](Problem& p) {
       p.product.a_op = CUBLAS_OP_N;
       p.a = layout(CUDA_R_8F_E4M3, 32, 64);
     },
     unsupported, 89},
    {"ScaledBlocksBeforeBlackwell", mxfp8, [](Problem&) {}, unsupported, 89},
    {"ScaledBlocksOfOneFactor", mxfp8, [](Problem& p) { p.product.b_scale_mode = 0; }, unsupported,
     100},
    {"ScalesOf16ForFp8", mxfp8,
     [](Problem& p) { p.product.a_scale_mode = p.product.b_scale_mode = 1; }, unsupported, 100},
    {"Fp4WithoutScales", nvfp4,
     [](Problem& p) { p.product.a_scale_mode = p.product.b_scale_mode = 0; }, unsupported, 100},
    {"Fp4WithScalesOf32", nvfp4,
     [](Problem& p) { p.product.a_scale_mode = p.product.b_scale_mode = 2; }, unsupported, 100},
    {"Fp4NotTn", nvfp4,
     [](Problem& p) {
       p.product.a_op = CUBLAS_OP_N;
       p.a = layout(CUDA_R_4F_E2M1, 32, 64);
     },
     unsupported, 100},
    {"Bf16BeforeAmpere", bf16, [](Problem&) {}, unsupported, 75},
    {"SumsInFp16", f32,
     [](Problem& p) { p = problem(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F); },
     unsupported},
};

INSTANTIATE_TEST_SUITE_P(Documented, Rules, testing::ValuesIn(rules),
                         [](const auto& rule) { return rule.param.name; });

TEST(RulesThatHold, LetEveryOrderOfFp8ThroughOnDataCentreBlackwell) {
  Problem p = e4m3();
  p.product.a_op = CUBLAS_OP_N;
  p.a = layout(CUDA_R_8F_E4M3, 32, 64);
  EXPECT_FALSE(refusal(p, gpu(10, 0)).has_value());
  EXPECT_TRUE(refusal(p, gpu(12, 0)).has_value());
}

TEST(RulesThatHold, LetScaledBlocksThroughOnBlackwell) {
  EXPECT_FALSE(refusal(mxfp8(), gpu(10, 0)).has_value());
  EXPECT_FALSE(refusal(nvfp4(), gpu(10, 0)).has_value());
}

TEST(RulesOfPointers, RefuseScalesOfBlocksThatAreNullOrUnaligned) {
  const float factor = 1;
  alignas(256) static char data[512];
  const Pointers good{&factor, data, data, &factor, nullptr, data + 256, false};
  Problem p = mxfp8();
  EXPECT_EQ(refusal(p, good)->status, invalid) << "null";
  p.product.a_scale = data;
  p.product.b_scale = data + 8;
  EXPECT_EQ(refusal(p, good)->status, invalid) << "unaligned";
  p.product.b_scale = data + 16;
  EXPECT_FALSE(refusal(p, good).has_value());
}

TEST(RulesThatHold, LetBf16x9ThroughOnDataCentreBlackwellAlone) {
  const Problem p = problem(CUDA_R_32F, CUDA_R_32F, compute_bf16x9, CUDA_R_32F);
  EXPECT_FALSE(refusal(p, gpu(10, 0)).has_value());
  EXPECT_FALSE(refusal(p, gpu(10, 3)).has_value());
  for (const int major : {8, 9, 12}) {
    const Verdict refused = refusal(p, gpu(major, 0));
    ASSERT_TRUE(refused.has_value()) << major;
    EXPECT_EQ(refused->status, unsupported);
  }
  EXPECT_TRUE(
      refusal(problem(CUDA_R_16BF, CUDA_R_32F, compute_bf16x9, CUDA_R_32F), gpu(10, 0)).has_value())
      << "factors are FP32";
}

TEST(RulesThatHold, LetTf32ThroughOnOlderGpus) {
  EXPECT_FALSE(
      refusal(problem(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F), gpu(7, 5))
          .has_value());
}

TEST(RulesOfPointers, RefuseNullAndUnalignedOnes) {
  const Problem p = e4m3();
  const float factor = 1;
  alignas(256) static char data[512];
  const Pointers good{&factor, data, data, &factor, nullptr, data + 256, false};
  EXPECT_FALSE(refusal(p, good).has_value());
  const auto broken = [&](const auto& breaks) {
    Pointers pointers = good;
    breaks(pointers);
    const Verdict verdict = refusal(p, pointers);
    return verdict ? verdict->status : CUBLAS_STATUS_SUCCESS;
  };
  EXPECT_EQ(broken([](Pointers& at) { at.a = nullptr; }), invalid);
  EXPECT_EQ(broken([](Pointers& at) { at.d = nullptr; }), invalid);
  EXPECT_EQ(broken([](Pointers& at) { at.beta = nullptr; }), invalid);
  EXPECT_EQ(broken([](Pointers& at) { at.c_is_used = true; }), invalid) << "C is null";
  EXPECT_EQ(broken([](Pointers& at) { at.a = data + 8; }), invalid) << "FP8 needs 16 bytes";
  Problem integers = i8();
  Pointers at = good;
  at.b = data + 2;
  EXPECT_EQ(refusal(integers, at)->status, invalid) << "int8 needs 4 bytes";
}

TEST(RulesOfPointers, RefuseTwoLayoutsInPlace) {
  Problem p = f32();
  const float factor = 1;
  alignas(256) static char data[512];
  const Pointers in_place{&factor, data, data, &factor, data + 256, data + 256, true};
  EXPECT_FALSE(refusal(p, in_place).has_value());
  p.c.leading = 40;
  EXPECT_EQ(refusal(p, in_place)->status, invalid);
}

}  // namespace
}  // namespace emulator::cublas_lt
