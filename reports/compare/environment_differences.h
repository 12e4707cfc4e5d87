#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/compare/completed_run.h"

namespace assay {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Returns the settings that change results or times, each as text: "git_revision", "seed",
/// "OMP_NUM_THREADS".
Settings settings_of(const RunInfo& run);

/// One difference between two runs; "" if a run lacks the value.
struct Difference {
  std::string what;  // "git_revision", "cpu driver"
  std::string base;
  std::string cand;

  bool operator==(const Difference&) const = default;
};

/// A device of the base and its counterpart in the candidate.
struct DevicePair {
  const DeviceCells* base = nullptr;
  const DeviceCells* cand = nullptr;

  const std::string& base_id() const { return base->at("device"); }
  const std::string& cand_id() const { return cand->at("device"); }
};

/// Pairs devices with the same id. With `by_backend` (different machines) also pairs devices that
/// are the only ones of their backend: cuda:0 here and cuda:3 there.
std::vector<DevicePair> pair_devices(const EndedRun& base, const EndedRun& cand, bool by_backend);

/// Differences that make two devices different products: name, instruction set, usable units.
std::vector<Difference> hardware_differences(const std::vector<DevicePair>& pairs);

/// Differences of configuration: build, options, variables, then the devices' columns except
/// momentary readings.
std::vector<Difference> environment_differences(const EndedRun& base, const EndedRun& cand,
                                                const std::vector<DevicePair>& pairs);

}  // namespace assay
