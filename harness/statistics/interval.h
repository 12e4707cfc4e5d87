#pragma once

namespace assay::statistics {

struct Interval {
  double low = 0;
  double high = 0;
};

}  // namespace assay::statistics
