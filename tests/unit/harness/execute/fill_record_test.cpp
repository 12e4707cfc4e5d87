#include "harness/execute/fill_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/case.h"

namespace assay {
namespace {

/// Reason of a row whose devices have drivers of these modes.
std::string reason(const std::vector<std::string>& drivers, bool has_energy) {
  Record record{.reason = "more precise"};
  if (has_energy) record.energy_per_launch_j = 1;
  for (const std::string& driver : drivers) {
    add_mode_notes(record, {.driver = driver});
  }
  return record.reason;
}

TEST(FillRecord, ErrorsHaveSixDigitsAndAreNotUnderstated) {
  const OpInstance op = parse_case_id("tensor_ops/sum/f32/n=3").op;
  oracle::Verdict verdict;
  for (const auto& [error, in_row] : {std::pair{0.1234561, 0.123457},
                                      {0.1234569, 0.123457},
                                      {0.25, 0.25},
                                      {0.99999949, 1.0},
                                      {1.0000001, 1.00001},
                                      {9.9999951e-310, 1e-309},
                                      {1e300, 1e300},
                                      {0.0, 0.0}}) {
    verdict.max_ulp = verdict.max_abs_error = error;
    verdict.max_bound_ratio = error;
    Record record;
    fill_verdict(record, op, verdict);
    EXPECT_EQ(record.max_ulp, in_row) << error;
    EXPECT_EQ(record.max_abs_error, in_row) << error;
    EXPECT_EQ(record.max_bound_ratio, in_row) << error;
  }
  verdict.max_bound_ratio.reset();
  verdict.max_abs_error = std::numeric_limits<double>::infinity();
  Record record;
  fill_verdict(record, op, verdict);
  EXPECT_EQ(record.max_bound_ratio, std::nullopt);
  EXPECT_TRUE(std::isinf(record.max_abs_error.value_or(0)));
}

TEST(FillRecord, ModesOfTheDriverMarkTimesAndEnergyOnce) {
  const std::string plain = "NVIDIA 580.82.07, CUDA 13.0";
  EXPECT_EQ(reason({plain, plain + ", MPS"}, true), "more precise");
  EXPECT_EQ(reason({plain + ", MIG"}, false), "more precise") << "times are the slice's own";
  EXPECT_EQ(reason({plain + ", MIG"}, true),
            "more precise, energy: of the whole GPU, which other slices may use");
  EXPECT_EQ(reason({plain + ", WSL2, MPS", plain + ", WSL2"}, false),
            "more precise, times: events under WSL2, where Windows hands work to the GPU");
}

}  // namespace
}  // namespace assay
