#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/compare/completed_run.h"
#include "reports/compare/environment_differences.h"
#include "reports/sections.h"

namespace assay {

/// What a report on two runs is made of.
struct ComparisonFacts {
  const EndedRun& base;
  const EndedRun& cand;
  const StoredTrials& base_trials;
  const StoredTrials& cand_trials;
  const std::vector<Difference>& differences;
  const Comparison& comparison;
  const ComparisonOptions& options;
  std::size_t longest_list = 20;
};

/// What is compared, differences of the environment, then of correctness, then of speed; lists are
/// cut at `longest_list`. What is empty is left out, but for the environment.
std::vector<Section> comparison_sections(const ComparisonFacts& facts);

/// All counts in one line.
std::string comparison_summary(const ComparisonFacts& facts);

/// The time of the candidate over that of the base: for each op and suite the geometric mean over
/// its trials, then trial by trial, the largest ratio first.
std::vector<Section> hardware_sections(const ComparisonFacts& facts);

// Pieces that the parts of the report share.
std::string trial_place(const ComparedTrial& trial);  // "cpu batch", "cuda:0 / cuda:1 cold"
std::string disturbance(const ComparedTrial& trial);  // "base contended, cand throttled"
/// The rows of the first of `trials`; the section says how many more there are.
template <class RowOf>
void add_rows(Section& section, const std::vector<const ComparedTrial*>& trials,
              const ComparisonFacts& facts, RowOf row_of) {
  for (const ComparedTrial* trial : trials) {
    if (section.rows.size() == facts.longest_list) break;
    section.rows.push_back(row_of(*trial));
  }
  section.left_out = trials.size() - section.rows.size();
  section.left_out_are_in = "--all lists them, --csv FILE has every trial";
}

}  // namespace assay
