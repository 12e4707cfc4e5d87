#include "reports/text/quality.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/core/names.h"
#include "reports/text/few_samples.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay {

void Quality::add(const Record& trial) {
  if (!shown_time_s(trial)) return;
  ++timed;
  contended += trial.contended.value_or(false) ? 1 : 0;
  throttled += trial.throttled.value_or(false) ? 1 : 0;
  beyond_limit += trial.beyond_limit.value_or(false) ? 1 : 0;
  too_few += has_too_few_samples(trial.samples) ? 1 : 0;
  const bool is_doubtful = trial.contended.value_or(false) || trial.throttled.value_or(false) ||
                           trial.beyond_limit.value_or(false) || has_too_few_samples(trial.samples);
  doubtful += is_doubtful ? 1 : 0;
}

std::string Quality::busy_sentence() const {
  if (!is_mostly_contended()) return {};
  if (contended == timed) return "All were taken on a busy machine.";
  return fmt::format("{} of {} were taken on a busy machine; the others say quiet.",
                     with_commas(contended), with_commas(timed));
}

std::string Quality::rest() const {
  std::vector<std::string> found;
  if (throttled > 0) found.push_back(fmt::format("{} throttled", with_commas(throttled)));
  if (beyond_limit > 0)
    found.push_back(fmt::format("{} beyond their limit", with_commas(beyond_limit)));
  if (too_few > 0) found.push_back(fmt::format("{} of too few samples", with_commas(too_few)));
  return join(found, ", ");
}

Quality quality_of(std::span<const Record> trials) {
  Quality quality;
  for (const Record& trial : trials) quality.add(trial);
  return quality;
}

std::string remarks(const Record& trial, bool mostly_contended) {
  std::vector<std::string> found;
  const bool is_contended = trial.contended.value_or(false);
  if (is_contended && !mostly_contended) found.emplace_back("contended");
  if (!is_contended && mostly_contended) found.emplace_back("quiet");
  if (trial.throttled.value_or(false)) found.emplace_back("throttled");
  if (trial.beyond_limit.value_or(false)) found.emplace_back("beyond its limit");
  return join(found, ", ");
}

}  // namespace assay
