#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/page/sources.h"

namespace assay::page {

/// Columns of results side by side: the devices of each run, and one for the trials of several of
/// its devices together ("cuda:0>cuda:1", "cuda:0+cuda:1").
struct Column {
  std::size_t run = 0;
  std::string device;  // empty: several together
  const DeviceCells* cells = nullptr;
  bool is_used = false;  // has a trial
  std::string name;      // "cuda:0", "cuda:0 of run 2"
  std::string label;     // for people: "NVIDIA H100", "sim:0 (simulated) of monday"
  std::string stand_in;  // as in results.csv

  bool is_together() const { return device.empty(); }
};

class Columns {
 public:
  /// Keeps columns that have a trial, in the order of the runs and of their devices. The runs must
  /// outlive this. The label of what stands for a device says so.
  explicit Columns(std::span<const RunSource> runs);

  const std::vector<Column>& all() const { return all_; }
  std::size_t size() const { return all_.size(); }
  const Column& operator[](std::size_t i) const { return all_[i]; }
  /// Returns the name of a run: see names_of_runs.
  const std::string& run(std::size_t i) const { return runs_[i]; }
  /// Returns the column of a trial, whose lane is as in results.csv.
  std::size_t of(std::size_t run, const std::string& lane) const;

 private:
  std::vector<std::string> runs_;
  std::vector<Column> all_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places_;  // by run and lane
};

}  // namespace assay::page
