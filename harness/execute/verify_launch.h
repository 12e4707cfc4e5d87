#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/execute/checks.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/trial.h"
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
  bool spoiled_process = false;  // by writes outside, or by what it leaves: nothing may run in it
};

/// The inputs of one of the op's passes, which depend on the case and the seed alone.
RankInputs generate_inputs(const OpInstance& op, int pass, std::uint64_t seed, int ranks);
/// The same in the memory of another pass's: to touch it first takes longer than to fill it.
void regenerate_inputs(const OpInstance& op, int pass, std::uint64_t seed, RankInputs& inputs);

/// Right, but so would have been what takes no computing: ends the trial with status `vacuous`.
struct VacuousResult {
  std::string reason;
};

/// What a judged launch leaves, also when it was wrong.
struct Findings {
  oracle::Verdict verdict;
  oracle::Precision precision;  // of the last pass that has any
  /// What would have passed every launch without being computed (harness/oracle/vacuous.h).
  std::optional<std::vector<std::string>> decoys;
  std::vector<oracle::Seen> deviations;  // that are declared for the trial
  std::string notes;                     // that a pass has besides
  std::string oracles;                   // "exact_data=exact; real_data=sum_bound(L=64,u=2^-24)"

  /// Drops those that did not pass another launch.
  void keep_decoys(const std::vector<std::string>& found);
};

/// Launches once on `inputs` over fresh poison and judges outputs, guard bands, inputs and the
/// agreement of ranks. `reference_key` names the case and the seed, on which alone the reference
/// depends. `clock` hears of each phase. The last pass leaves its right outputs, one a rank, in
/// `kept`, whose memory earlier passes may use. Throws WrongResult.
void judge_launch(Trial& trial, const OpInstance& op, int pass, const RankInputs& inputs,
                  ReferenceStore& references, const std::string& reference_key,
                  const Checks& checks, PhaseClock& clock, Findings& findings,
                  std::vector<HostTensor>& kept);

/// "deviation:ID, ..." of what was seen of those that are declared; empty for none. Throws
/// WrongResult where one should have shown and never did.
std::string deviations_seen(const Findings& findings);

/// Throws WrongResult when launches wrote outside their outputs. `on` names them: a pass,
/// "timed_launches", "last_launch", "soak".
void check_surroundings(const Trial& trial, const RankInputs& inputs, const Checks& checks,
                        const std::string& on);

/// Poisons the outputs, in a way that no judged launch uses, before launches that are timed. To be
/// called after check_surroundings: it makes the guard bands whole again.
void arm_for_timing(Trial& trial);

/// Launches `launches` times on the inputs of the last judged pass, each of which must leave the
/// verified bits. Throws WrongResult.
void soak(Trial& trial, const RankInputs& inputs, const std::vector<HostTensor>& verified,
          const Checks& checks, std::int64_t launches);

/// The last timed launch must have left the verified bits: timed work is verified work. Throws
/// WrongResult.
void check_last_launch(const Trial& trial, const RankInputs& inputs,
                       const std::vector<HostTensor>& verified, const Checks& checks);

}  // namespace assay
