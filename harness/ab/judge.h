#pragma once

#include <span>

#include "harness/ab/rule.h"
#include "harness/records/paired.h"

namespace assay::ab {

/// Judges one case by its screening rounds, each given as log(candidate / base): fills ratio,
/// interval, p_screen and a verdict that is never REGRESSED. True for a suspect, whose verdict
/// stands only until it is confirmed.
bool judge_screen(const Rule& rule, std::span<const double> log_ratios, PairedCase& result);

/// The same from fresh rounds of a suspect, without the verdict, which takes all suspects together.
void judge_confirm(const Rule& rule, std::span<const double> log_ratios, PairedCase& result);

/// The verdicts of all suspects, once each has been through judge_confirm.
void judge_suspects(const Rule& rule, std::span<PairedCase* const> suspects);

}  // namespace assay::ab
