#pragma once

#include <cstdint>

namespace assay::ab {

/// Rule for comparing two builds. 10 rounds of every case pick suspects and claim nothing; 40 fresh
/// rounds of the suspects decide. The unit is the round, not the sample: samples of one process
/// depend on each other (docs/ab.md).
struct Rule {
  int screen_rounds = 10;
  /// Level of the one-sided test against the margin; a case with p below it is a suspect. Generous:
  /// a change missed here is lost, an extra suspect only costs rounds.
  double screen_p = 0.4;
  int confirm_rounds = 40;
  double confirm_p = 0.05;   // chance of any false REGRESSED in the comparison (Holm)
  double confidence = 0.95;  // level of the intervals
  double margin = 0.02;      // share of the base's time that does not matter
  /// Samples of each side in each round; each lasts 1 ms, or one launch. On a shared machine the
  /// samples of one process differ as much as its rounds do, and cost far less.
  int samples = 20;
};

/// Finds smaller changes, for twice the time: more suspects, more rounds, a margin of a quarter of
/// a percent.
inline constexpr Rule sensitive{.screen_p = 0.5, .confirm_rounds = 60, .margin = 0.0025};

/// Throws UsageError for an invalid margin, and if so many cases need more rounds for the tests to
/// find anything: no silent "no change".
void check(const Rule& rule, std::int64_t cases);

}  // namespace assay::ab
