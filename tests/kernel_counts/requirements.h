#pragma once

#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "tests/kernel_counts/bound.h"

namespace assay::kernel_counts {

/// One case: sums over its kernels.
struct CaseFigures {
  double moved_ratio = 0;       // sectors that requests touch, over compulsory bytes
  double touched_ratio = 0;     // sectors that the launches touch, over compulsory bytes
  double wide_load_share = 0;   // of loaded bytes: by accesses of 16 bytes
  double wide_store_share = 0;  // of stored bytes
  double divisions_per_element = 0;
  double calls_per_element = 0;
  double unknown = 0;  // instructions without a model
  struct OnGpu {
    std::string gpu;
    double share_of_bandwidth = 0;  // compulsory bytes in the bound's time, over the data sheet's
    std::string limited_by;
  };
  std::vector<OnGpu> bounds;
};

/// Requirements that the case does not meet, in words: "bound 0.82 of b200 (issue)".
std::vector<std::string> failures(const Case& test, const CaseFigures& figures);

}  // namespace assay::kernel_counts
