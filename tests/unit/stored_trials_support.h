#pragma once

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <string>

#include "reports/files/stored_trials.h"

namespace assay::testing_support {

inline const std::string stored_header =
    "case_id,device,timing,attempt,repeat,status,reason,expected_failure,time_median_s,"
    "time_ci_low_s,time_ci_high_s,contended,throttled\n";

/// Returns a timed row: "x,cpu,batch,1,1,pass,,,2,1.9,2.1,,".
inline std::string timed_row(std::string_view key, double median_s, double spread = 0.01) {
  return fmt::format("{},1,1,pass,,,{},{},{},,\n", key, median_s, median_s * (1 - spread),
                     median_s * (1 + spread));
}

/// Returns a row that was only judged.
inline std::string judged_row(std::string_view key, std::string_view status,
                              std::string_view reason = "") {
  return fmt::format("{},1,1,{},{},,,,,,\n", key, status, reason);
}

inline std::unique_ptr<StoredTrials> stored(const std::string& rows) {
  std::istringstream text(stored_header + rows);
  return std::make_unique<StoredTrials>(text, "r.csv");
}

}  // namespace assay::testing_support
