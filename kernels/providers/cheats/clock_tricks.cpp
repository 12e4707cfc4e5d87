// Clocks of its process that tell less than passed. The work itself is honest.
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "kernels/providers/cheats/patch.h"
#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t true_ns() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);  // not by a function that is replaced
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Each clock tells its time from the true one.
std::int64_t at_a_tenth(std::int64_t ns) { return ns / 10; }
std::int64_t a_tenth_slow(std::int64_t ns) { return ns / 10 * 9; }
/// Within what the judge's own part of a sample hides.
std::int64_t a_little_slow(std::int64_t ns) { return ns / 100 * 96; }

/// Tells `shortened(step)` of each step below 30 ms, which no check of long work sees.
template <auto shortened>
std::int64_t in_short_steps(std::int64_t ns) {
  constexpr std::int64_t short_ns = 30'000'000;
  static std::int64_t last = ns;
  static std::int64_t fake_ns = ns;
  const std::int64_t step = ns - std::exchange(last, ns);
  fake_ns += step < short_ns ? shortened(step) : step;
  return fake_ns;
}
std::int64_t half(std::int64_t ns) { return ns / 2; }
/// Saves 20 us, at most: long samples are nearly right.
std::int64_t without_twenty_us(std::int64_t ns) {
  constexpr std::int64_t saved = 20'000;
  return ns > 2 * saved ? ns - saved : half(ns);
}

template <auto fake_time>
Clock::time_point fake_now() {
  return Clock::time_point(std::chrono::nanoseconds(fake_time(true_ns())));
}

/// Replaces the clock that times launches.
template <auto fake_time>
void with_clock(const Problem& p, const Launch& l) {
  [[maybe_unused]] static const bool is_done = [] {
    using Now = Clock::time_point (*)();
    const Now now = &Clock::now;
    const Now fake = fake_now<fake_time>;
    replace_code(reinterpret_cast<void*>(now), reinterpret_cast<const void*>(fake));
    return true;
  }();
  compute(p, l);
}

/// Replaces the function of the C library below it: the clock's own code is as before.
int fake_clock_gettime(clockid_t clock, timespec* now) {
  if (clock != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  const std::int64_t ns = in_short_steps<half>(true_ns());
  *now = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}
void patches_clock_gettime(const Problem& p, const Launch& l) {
  [[maybe_unused]] static const bool is_done = [] {
    replace_code(reinterpret_cast<void*>(&clock_gettime),
                 reinterpret_cast<const void*>(&fake_clock_gettime));
    return true;
  }();
  compute(p, l);
}

constexpr Entry entries[] = {
    {"slows_the_clock", make_of<with_clock<at_a_tenth>>},
    {"clock_tenth", make_of<with_clock<a_tenth_slow>>},
    {"clock_little", make_of<with_clock<a_little_slow>>},
    {"clock_steps", make_of<with_clock<in_short_steps<half>>>},
    {"clock_saves_microseconds", make_of<with_clock<in_short_steps<without_twenty_us>>>},
    {"patches_clock_gettime", make_of<patches_clock_gettime>},
};

}  // namespace

std::span<const Entry> clock_tricks() { return entries; }

}  // namespace assay::cheats
