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
  bool spoiled_process = false;  // by stray writes or changed state: nothing may run in it
};

/// The inputs of one of the op's passes, which depend on the case and the seed alone.
RankInputs generate_inputs(const OpInstance& op, int pass, std::uint64_t seed, int ranks);
/// Generates inputs into the memory of another pass: touching new memory takes longer than filling
/// it.
void regenerate_inputs(const OpInstance& op, int pass, std::uint64_t seed, RankInputs& inputs);

/// A right result that outputs without any computing would match too: ends the trial with status
/// `vacuous`.
struct VacuousResult {
  std::string reason;
};

/// Findings of a judged launch, also of a wrong one.
struct Findings {
  oracle::Verdict verdict;
  oracle::Precision precision;  // last pass with figures
  /// Decoys that would have passed every launch (harness/oracle/vacuous.h).
  std::optional<std::vector<std::string>> decoys;
  std::vector<oracle::Seen> deviations;  // declared ones for the trial
  std::string notes;                     // further ones of a pass
  std::string oracles;                   // "exact_data=exact; real_data=sum_bound(L=64,u=2^-24)"

  /// Drops those that did not pass another launch.
  void keep_decoys(const std::vector<std::string>& found);
};

/// Launches once on `inputs` over fresh poison. Judges outputs, guard bands, inputs and the
/// agreement of ranks. `reference_key` names the case and the seed; the reference depends on
/// nothing else. `clock` hears of each phase. The last pass leaves its right outputs, one a rank,
/// in `kept`; earlier passes may use that memory. Throws WrongResult.
void judge_launch(Trial& trial, const OpInstance& op, int pass, const RankInputs& inputs,
                  ReferenceStore& references, const std::string& reference_key,
                  const Checks& checks, PhaseClock& clock, Findings& findings,
                  std::vector<HostTensor>& kept);

/// "deviation:ID, ..." for the declared deviations that were seen; empty for none. Throws
/// WrongResult if one should have shown and never did.
std::string deviations_seen(const Findings& findings);

/// Throws WrongResult when launches wrote outside their outputs. `on` names them: a pass,
/// "timed_launches", "last_launch", "soak".
void check_surroundings(const Trial& trial, const RankInputs& inputs, const Checks& checks,
                        const std::string& on);

/// Poisons the outputs before timed launches, with bytes that no judged launch uses. Call it after
/// check_surroundings: it makes the guard bands whole again.
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
