#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/compare/completed_run.h"
#include "reports/compare/environment_differences.h"
#include "reports/text/sections.h"

namespace assay {

/// Content of a report on two runs.
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

/// Sections: the two runs, then the differences of environment, correctness and speed. Lists are
/// cut at `longest_list`. Empty sections are left out, except the environment.
std::vector<Section> comparison_sections(const ComparisonFacts& facts);

/// Returns all counts in one line.
std::string comparison_summary(const ComparisonFacts& facts);

/// Ratios of the candidate's time to the base's: the geometric mean of each suite and op, then
/// trial by trial, the largest first.
std::vector<Section> hardware_sections(const ComparisonFacts& facts);

// Pieces that several parts of the report use.
std::string trial_place(const ComparedTrial& trial);  // "cpu batch", "cuda:0 / cuda:1 cold"
std::string disturbance(const ComparedTrial& trial);  // "base contended, cand throttled"
/// Adds the rows of the first of `trials`; the section says how many more there are.
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
