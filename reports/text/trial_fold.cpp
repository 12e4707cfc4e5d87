#include "reports/text/trial_fold.h"

namespace assay {

int severity(Status status, bool accepted) {
  if (accepted) return worst_good;
  if (status == Status::flaky) return worst_good + 1;
  switch (class_of(status)) {
    case StatusClass::right:
      return 0;
    case StatusClass::skipped:
      return 1;
    case StatusClass::broken:
      return worst_good + 2;
    case StatusClass::wrong:
      break;
  }
  return worst_good + 3;
}

int severity(const Record& record) {
  return severity(record.status, !record.expected_failure.empty());
}

}  // namespace assay
