#pragma once

#include <fmt/format.h>

#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "reports/libraries/libraries.h"

namespace assay::testing_support {

/// Rows of one run with kernels of their own, on device "cpu" unless told otherwise.
struct KernelsRun {
  std::string kernels;
  std::string rows;
  std::set<std::string> devices{"cpu"};

  /// Adds a timed pass of suite "s".
  KernelsRun& timed(std::string_view test, double median_s, double spread = 0.01,
                    std::string_view op = "add", std::string_view dtype = "f32",
                    std::string_view more = ",") {
    rows += fmt::format("{},s,{},{},cpu,batch,1,1,pass,,,{},{},{},{}\n", test, op, dtype, median_s,
                        median_s * (1 - spread), median_s * (1 + spread), more);
    return *this;
  }
  KernelsRun& ended(std::string_view test, std::string_view status, std::string_view known = "",
                    std::string_view device = "cpu") {
    rows += fmt::format("{},s,add,f32,{},batch,1,1,{},why,{},,,,,\n", test, device, status, known);
    return *this;
  }
  /// Adds a wrong result with a time, which must count for nothing.
  KernelsRun& wrong_but_fast(std::string_view test) {
    rows += fmt::format("{},s,add,f32,cpu,batch,1,1,fail,why,,1e-9,1e-9,1e-9,,\n", test);
    return *this;
  }
};

/// Keeps the trials that a table is made of.
class KernelsRuns {
 public:
  explicit KernelsRuns(const std::vector<KernelsRun>& contents) {
    for (const KernelsRun& content : contents) {
      std::istringstream text(
          "case_id,suite,op,dtype,device,timing,attempt,repeat,status,reason,expected_failure,"
          "time_median_s,time_ci_low_s,time_ci_high_s,contended,stand_in\n" +
          content.rows);
      trials_.emplace_back(text, "results.csv");
      runs_.push_back({content.kernels, trials_.back(), content.devices});
    }
  }
  std::span<const LibraryRun> runs() const { return runs_; }
  LibraryTable table() const { return compare_libraries(runs_); }

 private:
  std::deque<StoredTrials> trials_;
  std::vector<LibraryRun> runs_;
};

}  // namespace assay::testing_support
