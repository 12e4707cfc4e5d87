#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "harness/execute/checks.h"
#include "kernels/ops/deviations.h"

namespace assay {

/// Options that hold for every trial of a run.
struct EngineOptions {
  std::uint64_t seed = 1;
  double cap_s = 2.0;     // limit for the measurement of one trial
  std::int64_t soak = 0;  // further launches of each trial; each is compared
  /// True if rows must keep their bits in smaller batches. Else timed trials find out whether.
  bool batch_invariant = false;
  /// True if the joules of launches are wanted: samples take longer, in no turns with a limit.
  bool energy = false;
  /// Number of samples of at least `long_sample_s` that time each trial, as `assay ab` does; 0:
  /// off.
  std::int64_t block = 0;
  Checks checks;
  /// Declared deviations of libraries, which pass; empty for a strict run.
  std::span<const Deviation> deviations = declared_deviations();
  /// True if each set of timed launches has inputs of its own, which no launch has seen
  /// (harness/execute/rotation.h).
  bool fresh_inputs = false;
  /// Decides the inputs of timed launches and which of them are judged; empty: drawn for each
  /// trial.
  std::optional<std::uint64_t> timed_seed = {};
  /// True if another process, with kernels that nobody vouches for, runs the launches.
  bool foreign_kernels = false;
  /// Folder in which the workers of a run share references; empty: no sharing.
  std::filesystem::path references;
};

}  // namespace assay
