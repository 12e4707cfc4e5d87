#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/execute/checks.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/trial.h"
#include "harness/execute/turns.h"
#include "harness/oracle/deviation.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/verdict.h"
#include "harness/records/phases.h"

namespace assay {

/// A wrong result: ends the trial with status `fail`.
struct WrongResult {
  Check check;
  std::string on;  // the pass, or the launches, in which it failed; empty where `check` says it
  std::string reason;
  bool spoiled_process = false;  // by stray writes or changed state: nothing may run in it
};

/// The inputs of one of the op's passes, which depend on the case and the seed alone.
RankInputs generate_inputs(const OpInstance& op, int pass, std::uint64_t seed, int ranks);
/// Generates inputs into the memory of another pass: touching new memory takes longer than filling
/// it.
void regenerate_inputs(const OpInstance& op, int pass, std::uint64_t seed, RankInputs& inputs);
/// Takes the rules of the pass from a caller that has them: to list those of an op takes long.
void regenerate_inputs(const OpInstance& op, const Pass& rules, int pass, std::uint64_t seed,
                       RankInputs& inputs);

/// A right result that outputs without any computing would match too: ends the trial with status
/// `vacuous`.
struct VacuousResult {
  std::string reason;
};

/// Findings of a judged launch, also of a wrong one.
struct Findings {
  oracle::Verdict verdict;
  oracle::Precision precision;  // last pass with figures
  /// Decoys that would have passed every launch so far, of each output; empty for one that was too
  /// small to tell (harness/oracle/vacuous.h).
  std::vector<std::optional<std::vector<std::string>>> decoys;
  std::vector<oracle::Seen> deviations;   // declared ones for the trial
  const Deviation* may_differ = nullptr;  // the declared one by which launches may leave other bits
  std::string notes;                      // further ones of a pass
  std::string oracles;                    // "exact_data=exact; real_data=sum_bound(L=64,u=2^-24)"

  /// Drops decoys of an output that did not pass another launch.
  void keep_decoys(std::size_t output, const std::vector<std::string>& found);
  /// True if each decoy of an output has failed some launch.
  bool refutes_decoys(std::size_t output) const;
  /// A decoy that would have passed every launch; empty if there is none.
  std::string decoy() const;
  /// Replaces the figures that a pass has.
  void add(const oracle::Precision& pass);
};

/// The problem whose expected output is that of a rank. That of a collective depends on all ranks;
/// for other ops each rank stands for itself.
reference::Problem problem_of(const OpInstance& op, const RankInputs& inputs, const Panel& panel,
                              int rank);

/// Name of timed launches as those on which a check failed.
inline constexpr std::string_view timed_launches = "timed_launches";

/// The subject of a judgement, for the reason of a wrong result.
struct Judged {
  const OpInstance& op;
  const Pass& pass;
  const MathMode& mode;
  std::string_view on;     // the pass, or the launches
  std::string_view where;  // begins the reason
};
/// Throws WrongResult unless the verdict passes the rule of the pass, and all outputs together
/// those beside it.
void demand_right(const oracle::Verdict& verdict, const Judged& judged, bool is_exact,
                  const Checks& checks);

/// Place, in a list of the outputs of all ranks, of one of them. An op of several outputs has one
/// rank.
inline std::size_t place_of(int rank, std::size_t output) {
  return static_cast<std::size_t>(rank) + output;
}

/// Judges the launches of a case.
class Judge {
 public:
  /// `key` names the case and the seed; references depend on nothing else. `clock` hears of each
  /// phase.
  Judge(const OpInstance& op, const Checks& checks, ReferenceStore& references, std::string key,
        PhaseClock& clock)
      : op_(op),
        passes_(assay::passes(op)),
        checks_(checks),
        references_(references),
        key_(std::move(key)),
        clock_(clock) {}

  const Passes& passes() const { return passes_; }

  /// Launches once on `inputs` over fresh poison. Judges outputs, guard bands, inputs and the
  /// agreement of ranks. The last pass leaves its right outputs, by place_of, in `kept`; earlier
  /// passes may use that memory. Throws WrongResult.
  void launch(Trial& trial, int pass, const RankInputs& inputs, Findings& findings,
              std::vector<HostTensor>& kept);

  /// Judges all outputs that timed launches on data of a pass, whose rows do not repeat, left in a
  /// set. `on` begins the reason. Throws WrongResult.
  void timed(const Trial& trial, std::size_t set, int pass, const RankInputs& inputs,
             const std::string& on, Findings& findings);

 private:
  struct Launched;
  class Expectation;

  /// Judges each output of a launch that `describe` tells of. Returns the first one of each rank.
  template <class Describe>
  std::vector<std::span<const std::byte>> judge_outputs(const TensorSet& tensors, bool keep,
                                                        std::vector<HostTensor>& kept,
                                                        const Describe& describe,
                                                        Findings& findings);
  void judge_blocks(const Launched& launched, Findings& findings);
  void judge(const Launched& launched, Findings& findings);

  const OpInstance& op_;
  const Passes passes_;
  const Checks& checks_;
  ReferenceStore& references_;
  std::string key_;
  PhaseClock& clock_;
};

/// "deviation:ID, ..." for the declared deviations that were seen; empty for none. Throws
/// WrongResult if one should have shown and never did.
std::string deviations_seen(const Findings& findings);

/// Throws WrongResult when launches wrote outside their outputs. `contents` has the inputs of each
/// set, or those of all. `on` names the launches: a pass, "timed_launches", "last_launch", "soak".
void check_surroundings(const Trial& trial, std::span<const RankInputs> contents,
                        const Checks& checks, const std::string& on);

/// Poisons the outputs before timed launches, with bytes that no judged launch uses. Call it after
/// check_surroundings: it makes the guard bands whole again.
void arm_for_timing(Trial& trial);

/// Launches `launches` times on the inputs of the last judged pass, each of which must leave the
/// verified bits. Throws WrongResult.
void soak(Trial& trial, const RankInputs& inputs, const std::vector<HostTensor>& verified,
          const Checks& checks, std::int64_t launches);

/// Adds a declared deviation that was seen to the text of others.
void add_deviation(std::string& reason, const Deviation& seen);

/// The last launch must have left the verified bits. Throws WrongResult.
void check_last_launch(const Trial& trial, const std::vector<HostTensor>& verified,
                       const Checks& checks);

}  // namespace assay
