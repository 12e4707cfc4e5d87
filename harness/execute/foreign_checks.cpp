#include "harness/execute/foreign_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "harness/execute/verify_launch.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

constexpr std::byte overwritten{0x7e};

/// Time of launches beside which a message and its answer are short.
constexpr double long_s = 0.05;
/// Share of the seen time that may be missing from what is told.
constexpr double missing_share = 0.05;
/// A disturbance must strike each of so many.
constexpr int clock_readings = 5;

struct Reading {
  double told_s;
  double seen_s;
};

Reading read_clocks(Trial& trial, std::int64_t launches) {
  const double begin_s = steady_s();
  const double told_s = trial.time_s(launches);
  return {told_s, steady_s() - begin_s};
}

}  // namespace

void check_late_writes(Trial& trial, const Checks& checks) {
  if (!checks.on(Check::late_writes)) return;
  trial.launch_and_fill(overwritten);
  const input::GuardedTensor& output = trial.tensors().output(0);
  HostTensor expected(output.spec());
  std::ranges::fill(expected.bytes(), overwritten);
  if (const auto element = output.first_difference(expected)) {
    throw WrongResult{
        Check::late_writes, "",
        fmt::format("writes to its output after its stream has ended: seen at [{}]", *element)};
  }
}

void check_clock(Trial& trial, const Checks& checks) {
  if (!checks.on(Check::clock)) return;
  std::int64_t launches = 1;
  while (read_clocks(trial, launches).seen_s < long_s) launches *= 2;
  Reading best{0, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < clock_readings; ++i) {
    const Reading now = read_clocks(trial, launches);
    if (now.seen_s - now.told_s < best.seen_s - best.told_s) best = now;
  }
  if (best.told_s >= (1 - missing_share) * best.seen_s) return;
  throw WrongResult{
      Check::clock, "",
      fmt::format("its clock tells of {:.3g} s for {} launches, during which {:.3g} s passed",
                  best.told_s, launches, best.seen_s)};
}

}  // namespace assay
