#include "reports/files/live_report.h"

#include <algorithm>

#include "reports/files/atomic_file.h"

namespace assay {
namespace {

using std::chrono::steady_clock;

/// A long run's report takes long to write; it may take a twentieth of the time.
constexpr auto min_pause = std::chrono::seconds(2);
constexpr int pause_per_write = 20;

}  // namespace

void LiveReport::begin(const RunInfo& run) {
  run_ = run;
  write(run_);
}

void LiveReport::result(const Result& /*result*/) {
  if (steady_clock::now() >= next_) write(run_);
}

void LiveReport::end(const RunInfo& run) { write(run); }

void LiveReport::write(const RunInfo& run) {
  const auto before = steady_clock::now();
  write_atomically(path_, text(run, outcomes_));
  const auto after = steady_clock::now();
  next_ = after + std::max<steady_clock::duration>(min_pause, pause_per_write * (after - before));
}

}  // namespace assay
