#pragma once

#include <cstdint>

namespace assay::ab {

/// How two builds are compared: 10 rounds of every case pick suspects, of which no claim is made;
/// 40 fresh rounds of the suspects alone decide. Rounds are the unit, not samples: the samples of
/// one process depend on each other (docs/ab.md).
struct Rule {
  int screen_rounds = 10;
  /// Of the one-sided test against the margin; below it a case is a suspect. Generous: what is let
  /// pass here is lost, a suspect too many costs rounds.
  double screen_p = 0.4;
  int confirm_rounds = 40;
  double confirm_p = 0.05;   // of one or more false REGRESSED in the whole comparison (Holm)
  double confidence = 0.95;  // of intervals
  double margin = 0.02;      // a part of the base's time that does not matter
  /// Of each side, in each round, 1 ms or a launch each. On a shared machine the samples of one
  /// process differ by as much as its rounds do, and cost far less than rounds.
  int samples = 20;
};

/// Finds smaller changes, for twice the time: more suspects, more rounds, a margin of a quarter of
/// a percent.
inline constexpr Rule sensitive{.screen_p = 0.5, .confirm_rounds = 60, .margin = 0.0025};

/// Throws UsageError for a margin that is none, and where the rounds are too few for the tests ever
/// to find something, among so many cases: no silent "no change".
void check(const Rule& rule, std::int64_t cases);

}  // namespace assay::ab
