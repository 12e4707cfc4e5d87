#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"
#include "tests/kernel_counts/bound.h"

namespace assay::kernel_counts {

/// One case: sums over its kernels.
struct CaseFigures {
  double moved_ratio = 0;       // sectors that requests touch, over compulsory bytes
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

/// Requirements of a case. The last three say by what its bound is limited.
enum class Requirement {
  moved,
  wide_loads,
  wide_stores,
  divisions,
  calls,
  model,
  memory,
  issue,
  latency
};

struct Failure {
  Requirement requirement;
  std::string text;         // "0.82 on b200 by issue"
  std::string_view reason;  // why it stands; empty: none is known that reaches so far
};

/// Requirements that the case does not meet.
std::vector<Failure> failures(const Case& test, const CaseFigures& figures);

}  // namespace assay::kernel_counts
