#include <gtest/gtest.h>

#include "emulator/libraries/cublas_lt/bf16_parts.h"

namespace emulator::cublas_lt {
namespace {

TEST(Bf16Parts, PairEachPartWithEachInRunsOfTheGivenWidth) {
  // 2^19 + 2^10 + 1: three parts. The second element has one.
  const std::vector<float> factors{525313, 2};
  const std::vector<float> first = first_in_parts(factors, 2);
  const std::vector<float> second = second_in_parts(factors, 2);
  EXPECT_EQ(first, (std::vector<float>{524288, 2, 524288, 2, 524288, 2, 1024, 0, 1024, 0, 1024, 0,
                                       1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(second, (std::vector<float>{524288, 2, 1024, 0, 1, 0, 524288, 2, 1024, 0, 1, 0, 524288,
                                        2, 1024, 0, 1, 0}));
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += double(first[i]) * double(second[i]);
  EXPECT_EQ(sum, 525313.0 * 525313.0 + 4);
}

}  // namespace
}  // namespace emulator::cublas_lt
