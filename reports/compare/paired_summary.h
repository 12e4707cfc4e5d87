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

/// One line that says what the comparison came to: "NOT GREEN: ...".
std::string paired_verdict(const PairedInfo& info, std::span<const PairedCase> cases);

/// A table of the cases, the worst first. Equivalent ones are left out where there are many, which
/// a last line says.
std::string paired_table(std::span<const PairedCase> cases);

/// The page for people, ab.md: what was compared, how, and the same table.
std::string paired_markdown(const PairedInfo& info, std::span<const PairedCase> cases);

}  // namespace assay
