#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "harness/records/paired.h"
#include "harness/records/paired_info.h"

namespace assay {

using PairedTally = std::map<PairedVerdict, std::int64_t>;
PairedTally tally(std::span<const PairedCase> cases);

/// "2 regressed, 27 equivalent, 1 inconclusive"
std::string tally_text(const PairedTally& tally);

/// Returns the verdict by the cases: FAILED; PASSED if one was decided, and none against the
/// candidate; else INCOMPLETE.
std::string_view paired_word(const PairedTally& counts);

/// Returns whether cases were timed and every one of them is inconclusive.
bool is_undecided(const PairedTally& counts);

/// Returns the verdict of the comparison as a word, and why.
std::pair<std::string, std::string> paired_verdict_parts(const PairedInfo& info,
                                                         std::span<const PairedCase> cases);

/// Returns it in one line: "FAILED: ...".
std::string paired_verdict(const PairedInfo& info, std::span<const PairedCase> cases);

/// Returns a table of the cases, the worst first. Many equivalent ones are left out, with a last
/// line that says so.
std::string paired_table(std::span<const PairedCase> cases);

/// Returns ab.md, the page for people: the two sides, the rule, and the same table.
std::string paired_markdown(const PairedInfo& info, std::span<const PairedCase> cases);

}  // namespace assay
