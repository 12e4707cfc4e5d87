#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/compare/completed_run.h"

namespace assay {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// What may be another in the next run and changes results or times: "git_revision", "seed",
/// "OMP_NUM_THREADS", each as text.
Settings settings_of(const RunInfo& run);

/// One thing that is not the same in two runs; "" where a run does not have it.
struct Difference {
  std::string what;  // "git_revision", "cpu driver"
  std::string base;
  std::string cand;
};

/// Which device of the one run stands against which of the other.
struct DevicePair {
  const DeviceCells* base = nullptr;
  const DeviceCells* cand = nullptr;

  const std::string& base_id() const { return base->at("device"); }
  const std::string& cand_id() const { return cand->at("device"); }
};

/// Devices with the same id. Of different machines (`by_backend`) also those that are the only ones
/// of their backend: cuda:0 here and cuda:3 there.
std::vector<DevicePair> pair_devices(const EndedRun& base, const EndedRun& cand, bool by_backend);

/// What makes two devices different products: name, instruction set, how many units may be used.
std::vector<Difference> hardware_differences(const std::vector<DevicePair>& pairs);

/// All that is configuration and differs: build, options, variables, then the devices' columns but
/// for momentary readings.
std::vector<Difference> environment_differences(const EndedRun& base, const EndedRun& cand,
                                                const std::vector<DevicePair>& pairs);

}  // namespace assay
