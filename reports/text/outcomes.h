#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/records/record.h"
#include "reports/text/trial_fold.h"

namespace assay {

/// Counts of outcomes by status and by class; none is 0. Failures that were accepted as known ones
/// are in neither, but in `expected`.
struct Tally {
  std::map<Status, std::int64_t> by_status;
  std::map<StatusClass, std::int64_t> by_class;
  std::int64_t expected = 0;
  std::int64_t total = 0;
  std::int64_t finished = 0;  // trials with a row, counting every repeat

  /// "linear/linear/bf16 on cuda:0", with the first refusal: suites, ops and dtypes of which
  /// nothing ran although the device could have run it, as not all was skipped for lack of devices,
  /// memory or hardware. Known where outcomes are counted, but not where single records are added.
  std::vector<std::pair<std::string, std::string>> untested;

  void add(const Record& outcome);
  std::int64_t count(Status status) const;
  std::int64_t count(StatusClass of_class) const;
  /// Returns "118 pass, 2 skip, 1 expected failure", without zeros.
  std::string text() const;
};

/// Returns whether an outcome that was not accepted as a known failure keeps the run from passing.
/// Verdicts count these outcomes, and lists of problems show them.
bool turns_red(Status status, const RunInfo& run);

/// Outcome of each trial over its attempts and repeats. Grows with the plan, not with repeats.
class Outcomes final : public Sink {
 public:
  Outcomes() = default;
  explicit Outcomes(std::span<const Record> records);

  void add(const Record& record);
  void result(const Result& result) override { add(result.record); }

  /// One record for each case, device and timing, in the order of their first appearance
  /// (reports/text/trial_fold.h). `wall_s` is that of all attempts and repeats together.
  std::vector<Record> trials() const;
  Tally tally() const;

 private:
  struct Trial {
    TrialFold<Record> fold;
    std::optional<double> wall_s;  // time of all attempts and repeats
  };
  /// State of one suite, op and dtype on one device.
  struct Cell {
    bool has_run = false;
    std::string refusal;  // why a library first refused it
  };
  static Record outcome(const Trial& trial);
  void add_to_cell(const Record& record);

  std::vector<Trial> trials_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index_;
  std::map<std::string, Cell> cells_;
  std::int64_t finished_ = 0;
};

/// Counts of outcomes that keep a run from passing, the worst first: "28 wrong, 2 crashed". Empty
/// without any.
std::string failures_text(const RunInfo& run, const Tally& tally);

/// Verdict on a run, in one word and one sentence.
struct RunVerdict {
  std::string word;
  std::string why;
  bool passed = false;
  bool shown_by_a_result = false;  // or else no single result says that the run did not pass
};

/// Only a run that is complete, ended with exit code 0 and holds a right result has passed.
RunVerdict run_verdict(const RunInfo& run, const Tally& tally);

}  // namespace assay
