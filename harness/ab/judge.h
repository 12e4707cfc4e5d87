#pragma once

#include <span>

#include "harness/ab/rule.h"
#include "harness/records/paired.h"

namespace assay::ab {

/// Judges one case by its screening rounds, each given as log(candidate / base): fills ratio,
/// interval, p_screen and a verdict that is never REGRESSED. True for a suspect, whose verdict
/// stands only until it is confirmed.
bool judge_screen(const Rule& rule, std::span<const double> log_ratios, PairedCase& result);

/// Fills ratio, interval and p_confirm of a suspect from its fresh rounds. The verdict needs all
/// suspects together: see judge_suspects.
void judge_confirm(const Rule& rule, std::span<const double> log_ratios, PairedCase& result);

/// Sets the verdicts of all suspects. Each must have been through judge_confirm.
void judge_suspects(const Rule& rule, std::span<PairedCase* const> suspects);

}  // namespace assay::ab
