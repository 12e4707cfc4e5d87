#include "harness/records/limit.h"

#include <gtest/gtest.h>

#include "harness/records/fields_json.h"

namespace assay {
namespace {

TEST(NamedLimit, IsOfAKindOrKeepsTheNameOfAnotherVersion) {
  std::vector<LimitKind> kinds = all_limit_kinds();
  kinds.push_back({Resource::function, DType::f64, "exp"});
  kinds.push_back({Resource::function, DType::bf16, "gelu_tanh"});
  for (const LimitKind& kind : kinds) {
    NamedLimit limit;
    from_cell(name(kind), limit);
    EXPECT_EQ(limit, kind) << name(kind);
    EXPECT_EQ(to_cell(limit), name(kind));
  }
  for (const char* nothing : {"function_", "function_exp", "function_exp_f33", "exp_f32"})
    EXPECT_EQ(NamedLimit(nothing).kind(), nullptr) << nothing;
  NamedLimit foreign;
  from_cell("memory_strided", foreign);
  EXPECT_EQ(foreign.kind(), nullptr);
  EXPECT_EQ(to_cell(foreign), "memory_strided");
  EXPECT_EQ(fields_to_json(Limit{.limit = foreign}).at("limit"), "memory_strided");
}

TEST(Limit, IsNamedWithItsValueInResults) {
  const LimitKind kind{Resource::matrix, DType::bf16};
  const Limit limit{.limit = kind, .unit = std::string(unit_of(kind)), .value = 1.25e12};
  EXPECT_EQ(result_cell(limit), "matrix_bf16 1.25e+12 FLOP/s");
  EXPECT_EQ(limit_of_result(result_cell(limit)), kind);
  EXPECT_EQ(limit_of_result("").kind(), nullptr);
}

}  // namespace
}  // namespace assay
