#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "reports/machines/fleet.h"

namespace assay::testing_support {

/// Rows of one run on one host.
struct FleetRun {
  std::string host;
  std::string rows;
  std::uint64_t seed = 1;

  /// Adds a timed pass of a case of suite "s".
  FleetRun& timed(std::string_view test, std::string_view device, std::string_view product,
                  double median_s, std::string_view hash = "", std::string_view dtype = "f32",
                  std::string_view by = "own") {
    rows += fmt::format("{},s,add,{},{},{},batch,1,1,pass,,{},,{},{}\n", test, dtype, device,
                        product, median_s, hash, by);
    return *this;
  }
  FleetRun& ended(std::string_view test, std::string_view device, std::string_view product,
                  std::string_view status) {
    rows += fmt::format("{},s,add,f32,{},{},batch,1,1,{},why,,,,\n", test, device, product, status);
    return *this;
  }
  FleetRun& simulated(std::string_view test, std::string_view device, std::string_view product) {
    rows +=
        fmt::format("{},s,add,f32,{},{},batch,1,1,pass,,1,simulated,,\n", test, device, product);
    return *this;
  }
};

inline void add(FleetBuilder& builder, std::size_t run, const FleetRun& content) {
  RunInfo info;
  info.host = content.host;
  info.seed = content.seed;
  info.build_id = "0.1.0";
  std::istringstream text(
      "case_id,suite,op,dtype,device,device_name,timing,attempt,repeat,status,reason,"
      "time_median_s,stand_in,output_hash,implementation\n" +
      content.rows);
  builder.add(run, info, StoredTrials(text, "results.csv"));
}

inline Fleet fleet_of(const std::vector<FleetRun>& runs, FleetSelection selection = {}) {
  FleetBuilder builder(std::move(selection));
  for (std::size_t run = 0; run < runs.size(); ++run) add(builder, run, runs[run]);
  return builder.finish();
}

}  // namespace assay::testing_support
