#include "harness/records/paired.h"

#include <array>

namespace assay {
namespace {

constexpr std::array verdicts{
    PairedVerdict::regressed,    PairedVerdict::improved, PairedVerdict::equivalent,
    PairedVerdict::inconclusive, PairedVerdict::wrong,    PairedVerdict::broken,
    PairedVerdict::missing,      PairedVerdict::added,    PairedVerdict::skipped};
constexpr std::array<std::string_view, verdicts.size()> verdict_names{
    "regressed", "improved", "equivalent", "inconclusive", "wrong",
    "broken",    "missing",  "added",      "skipped"};

}  // namespace

std::span<const PairedVerdict> all_paired_verdicts() { return verdicts; }

std::string_view name(PairedVerdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

}  // namespace assay
