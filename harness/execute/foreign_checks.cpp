#include "harness/execute/foreign_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/execute/verify_launch.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

constexpr std::byte overwritten{0x7e};

/// Times of launches. A late message costs milliseconds where others use the cores, whatever it is
/// about: it is a small share of long work, while that of a changed clock stays.
constexpr std::array work_s{0.05, 0.2, 0.8};
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
  Reading last{};
  for (const double least_s : work_s) {
    while (read_clocks(trial, launches).seen_s < least_s) launches *= 2;
    for (int i = 0; i < clock_readings; ++i) {
      last = read_clocks(trial, launches);
      if (last.told_s >= (1 - missing_share) * last.seen_s) return;
    }
  }
  throw WrongResult{
      Check::clock, "",
      fmt::format("its clock tells of {:.3g} s for {} launches, during which {:.3g} s passed",
                  last.told_s, launches, last.seen_s)};
}

}  // namespace assay
