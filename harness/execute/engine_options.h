#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "harness/execute/checks.h"
#include "kernels/ops/deviations.h"

namespace assay {

/// Options of a user that the engine reads. The command line fills them
/// (session/options/trial_options.h) and the engine gets them whole: none can be lost between.
struct TrialConduct {
  std::uint64_t seed = 1;
  std::int64_t soak = 0;  // further launches of each trial; each is compared
  /// True if rows must keep their bits in smaller batches. Else timed trials find out whether.
  bool batch_invariant = false;
  /// True if the joules of launches are wanted: samples take longer, in no turns with a limit.
  bool energy = false;
  /// True if each set of timed launches has inputs of its own, which no launch has seen
  /// (harness/execute/rotation.h).
  bool fresh_inputs = false;
  bool strict = false;  // no declared deviation passes
  /// Kernels of others: a library, a Python file, or a word; empty: our own. Another process runs
  /// the launches, and nobody vouches for it.
  std::string kernels;
  /// Python file that defines ops; empty: that of `kernels`, if it does.
  std::string own_ops;
  /// Problem in KernelBench's form, or a folder of them: each is an op.
  std::string problem;
  Checks checks;

  bool has_foreign_kernels() const { return !kernels.empty(); }
  bool takes_fresh_inputs() const { return fresh_inputs || has_foreign_kernels(); }
};

/// Options that hold for every trial of a run.
struct EngineOptions : TrialConduct {
  double cap_s = 2.0;  // limit for the measurement of one trial
  /// Number of samples of at least a millisecond that time each trial, as `assay ab` does; 0: off.
  std::int64_t block = 0;
  /// Deviations that libraries declare, which pass in a run that is not strict.
  std::span<const Deviation> deviations = declared_deviations();
  /// Decides the inputs of timed launches and which of them are judged; empty: drawn for each
  /// trial.
  std::optional<std::uint64_t> timed_seed = {};
  /// Folder in which the workers of a run share references; empty: no sharing. Kernels of others
  /// could read the files, and get none.
  std::filesystem::path references = {};

  std::span<const Deviation> accepted_deviations() const {
    return strict ? std::span<const Deviation>() : deviations;
  }
  std::filesystem::path shared_references() const {
    return has_foreign_kernels() ? std::filesystem::path() : references;
  }
};

}  // namespace assay
