#include "harness/records/phases.h"

#include <utility>

namespace assay {

double PhaseSeconds::total() const {
  double sum_s = 0;
  for (const Phase& phase : all_phases) sum_s += this->*phase.seconds;
  return sum_s;
}

PhaseSeconds& PhaseSeconds::operator+=(const PhaseSeconds& more) {
  for (const Phase& phase : all_phases) this->*phase.seconds += more.*phase.seconds;
  return *this;
}

void PhaseClock::enter(double PhaseSeconds::*phase) {
  pause();
  phase_ = phase;
}

void PhaseClock::pause() {
  const double spent_s = lap_s();
  if (phase_ != nullptr) seconds_.*phase_ += spent_s;
  phase_ = nullptr;
}

void PhaseClock::give(double PhaseSeconds::*phase, double share) {
  const double spent_s = lap_s();
  if (phase_ == nullptr) return;
  seconds_.*phase += spent_s * share;
  seconds_.*phase_ += spent_s * (1 - share);
}

PhaseSeconds PhaseClock::take() {
  pause();
  return std::exchange(seconds_, {});
}

double PhaseClock::lap_s() {
  const double now_s = now_s_();
  return now_s - std::exchange(since_s_, now_s);
}

}  // namespace assay
