// Single elements that launches misread: which ones a case feels.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/felt/elements.h"
#include "harness/felt/measure.h"
#include "kernels/cpu/backend.h"
#include "kernels/ops/borders.h"
#include "kernels/ops/reads.h"

namespace assay::felt {
namespace {

TEST(FeltElements, AreDrawnWithinTheTensor) {
  for (const std::int64_t element : drawn_elements({DType::f32, {3, 5}}, 50, 7)) {
    EXPECT_TRUE(element >= 0 && element < 15) << element;
  }
  EXPECT_TRUE(drawn_elements({DType::f32, {0}}, 5, 7).empty());
}

class FeltCases : public testing::TestWithParam<const char*> {};

TEST_P(FeltCases, FailForEachElementAtABorderThatIsMisread) {
  Measure measure(cpu::make_backend(), {.drawn = 0});
  const auto findings = measure.run(parse_case_id(GetParam()));
  EXPECT_FALSE(findings.empty());
  for (const Finding& f : findings) {
    EXPECT_TRUE(f.is_felt) << name(f.as) << " of [" << f.element << "] of input " << f.input
                           << " of rank " << f.rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, FeltCases,
    testing::Values(
        "tensor_ops/argmax/f32/n=1003", "tensor_ops/argmax/u8/n=67",
        "tensor_ops/reduce_max/bf16/n=67", "tensor_ops/reduce_max/u8/n=67",
        "tensor_ops/reduce_min/f16/n=67", "tensor_ops/reduce_min/i32/n=1003",
        "tensor_ops/equal/u8/n=67", "tensor_ops/less/f32/n=67", "tensor_ops/less/i64/n=67",
        "tensor_ops/max/f16/n=67", "tensor_ops/min/u8/n=67", "tensor_ops/relu/f32/n=67",
        "tensor_ops/gelu/f32/n=67", "tensor_ops/where/f32/n=67",
        "tensor_ops/add_broadcast/f32/outer=3,n=5,inner=7,repeat=a",
        "tensor_ops/equal_broadcast/u8/outer=3,n=5,inner=7,repeat=b",
        "tensor_ops/less_broadcast/i64/outer=61,n=33,inner=1,repeat=b",
        "tensor_ops/min_broadcast/bf16/outer=61,n=3,inner=1,repeat=b",
        "tensor_ops/where_broadcast/i32/outer=1,n=5,inner=33,repeat=mask",
        "tensor_ops/concat/u8/outer=3,n=5,inner=7,m=4",
        "tensor_ops/slice/u8/outer=3,n=11,inner=7,start=1,count=3,step=4",
        "tensor_ops/pad/u8/outer=3,n=5,inner=7,before=2,after=3",
        "tensor_ops/flip/u8/outer=1,n=33,inner=5",
        "tensor_ops/repeat/bf16/outer=5,n=33,inner=1,times=3",
        "tensor_ops/gather/f32/rows=5,cols=3,count=7", "tensor_ops/cast/f32/to=i8,n=67",
        "tensor_ops/sort/f32/n=67", "tensor_ops/argsort/bf16/n=67", "tensor_ops/unique/u8/n=67",
        "tensor_ops/sort_axis/f16/outer=2,n=61,inner=3",
        "tensor_ops/argsort_axis/i64/outer=3,n=61,inner=1",
        "tensor_ops/topk/f32/rows=3,cols=67,k=5", "tensor_ops/sum/f32/n=67",
        "tensor_ops/copy/f32/n=10,cols=5,ld=8",
        "tensor_ops/reduce_max_axis/u8/outer=2,n=67,inner=5",
        "tensor_ops/reduce_min_axis/bf16/outer=3,n=67,inner=1",
        "tensor_ops/argmin_axis/f32/outer=1,n=61,inner=33",
        "tensor_ops/argmax_axis/i64/outer=2,n=33,inner=8",
        "tensor_ops/norm2_axis/bf16/outer=1,n=61,inner=33",
        "tensor_ops/mean_axis/bf16/outer=2,n=61,inner=2",
        "tensor_ops/prod_axis/f16/outer=2,n=128,inner=2", "tensor_ops/logsumexp/f32/n=1003",
        "tensor_ops/logsumexp_axis/bf16/outer=1,n=61,inner=33",
        "tensor_ops/scan_axis/bf16/outer=2,n=61,inner=3",
        "tensor_ops/softmax_axis/f16/outer=2,n=61,inner=3",
        "tensor_ops/layernorm_axis/bf16/outer=2,n=61,inner=3", "tensor_ops/norm2/bf16/n=1003",
        "tensor_ops/dot/f16/n=1003", "tensor_ops/prod/bf16/n=1003", "tensor_ops/scan/bf16/n=1003",
        "linear/i8/batch=1,in=400,out=120,bias=1,act=relu", "tensor_ops/tanh/bf16/n=1003",
        "tensor_ops/gather/bf16/rows=101,cols=48,count=33",
        "linear/bf16/batch=1,in=400,out=120,bias=1,act=relu",
        "linear/bf16/batch=65,in=1025,out=1,bias=1,act=none",
        "linear/linear_stack/bf16/batch=16,in=64,width=64,layers=4,bias=1,act=gelu",
        "linear/linear_stack/f32/batch=16,in=10,width=16,layers=3,bias=1,act=relu",
        "allreduce/f32/reduce=min,ranks=3,count=67",
        "collectives/reduce/i32/reduce=max,ranks=2,count=67,root=1",
        "collectives/broadcast/f32/ranks=2,count=67",
        "collectives/all_gather/f32/ranks=2,count=67,place=in",
        "collectives/send_recv_pair/f32/ranks=3,count=67,from=2,to=1"),
    [](const auto& test) {
      std::string text = test.param;
      std::erase_if(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return text;
    });

TEST(FeltMeasure, SaysWhatIsNotFelt) {
  // An extreme that is at the borders in turns lies nowhere else.
  Measure measure(cpu::make_backend(), {.drawn = 8});
  const auto findings = measure.run(parse_case_id("tensor_ops/reduce_max/f32/n=65537"));
  const auto is_missed = [](const Finding& f) { return f.is_drawn && !f.is_felt; };
  EXPECT_TRUE(std::ranges::any_of(findings, is_missed));
}

TEST(Reads, AreNoneOfWhatNothingDependsOn) {
  const auto reads_of = [](const char* id, int rank, std::int64_t element) {
    return reads(parse_case_id(id).op, rank, 0, element);
  };
  EXPECT_FALSE(reads_of("tensor_ops/fill/f32/n=0", 0, 0));
  EXPECT_FALSE(reads_of("tensor_ops/argmax/f32/n=1", 0, 0));
  const auto one_row = parse_case_id("tensor_ops/gather/f32/rows=1,cols=3,count=7").op;
  EXPECT_FALSE(reads(one_row, 0, 1, 2)) << "an index that can be 0 alone";
  EXPECT_TRUE(reads_of("tensor_ops/gather/f32/rows=5,cols=3,count=7", 0, 14));
  EXPECT_FALSE(reads_of("tensor_ops/gather/f32/rows=5,cols=3,count=2", 0, 14));
  const char* slice = "tensor_ops/slice/f32/outer=2,n=7,inner=2,start=1,count=2,step=3";
  for (const std::int64_t element : {2, 3, 8, 9, 16, 17, 22, 23})
    EXPECT_TRUE(reads_of(slice, 0, element)) << element;
  for (const std::int64_t element : {0, 1, 4, 7, 10, 12, 14, 27})
    EXPECT_FALSE(reads_of(slice, 0, element)) << element;
  const char* pad = "tensor_ops/pad/f32/outer=1,n=7,inner=2,before=";
  EXPECT_TRUE(reads(parse_case_id(pad + std::string("0,after=1")).op, 0, 1, 0));
  EXPECT_FALSE(reads(parse_case_id(pad + std::string("0,after=0")).op, 0, 1, 0));
  EXPECT_TRUE(reads_of("collectives/broadcast/f32/ranks=2,count=3,root=1", 1, 0));
  EXPECT_FALSE(reads_of("collectives/broadcast/f32/ranks=2,count=3,root=1", 0, 0));
  EXPECT_TRUE(reads_of("collectives/broadcast/f32/ranks=2,count=3", 0, 0)) << "the root by default";
  EXPECT_FALSE(reads_of("collectives/broadcast/f32/ranks=2,count=3", 1, 0));
  EXPECT_FALSE(reads_of("collectives/send_recv_pair/f32/ranks=3,count=3,from=2,to=1", 1, 0));
  EXPECT_TRUE(reads_of("collectives/all_gather/f32/ranks=2,count=3,place=in", 1, 3));
  EXPECT_FALSE(reads_of("collectives/all_gather/f32/ranks=2,count=3,place=in", 1, 2));
}

}  // namespace
}  // namespace assay::felt
