#pragma once

#include <cstdint>

#include "harness/records/record.h"

namespace assay {

/// Outcomes by class.
struct StatusCounts {
  std::int64_t right = 0;
  std::int64_t wrong = 0;   // flaky and vacuous too
  std::int64_t broken = 0;  // crash, time-out, ...
  std::int64_t skipped = 0;

  void add(Status status) {
    switch (class_of(status)) {
      case StatusClass::right:
        ++right;
        break;
      case StatusClass::wrong:
        ++wrong;
        break;
      case StatusClass::broken:
        ++broken;
        break;
      case StatusClass::skipped:
        ++skipped;
        break;
    }
  }
};

}  // namespace assay
