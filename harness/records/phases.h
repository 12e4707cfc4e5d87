#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "kernels/core/clock.h"

namespace assay {

/// Seconds spent by phase, of a trial in its worker or of all trials of a run. Lanes that work side
/// by side add up to more than the wall time.
struct PhaseSeconds {
  double setup = 0;       // opening devices, allocating, preparing the kernel, releasing
  double input = 0;       // drawing and uploading inputs, arming guards and poison
  double execution = 0;   // launches that are judged and not timed
  double reference = 0;   // expected outputs, and waiting for another worker's reference
  double comparison = 0;  // downloading and judging outputs, guards, inputs, agreement of ranks
  double sampling = 0;    // warm-up and samples
  double limits = 0;      // measuring limits: before the first trial, and in turns with trials
  // Phases of the parent; 0 in a worker's answer.
  double output = 0;  // writing results to files and to the terminal
  double other = 0;   // rest of the wall time: planning, workers that start, wait or die

  double total() const;
  PhaseSeconds& operator+=(const PhaseSeconds& more);
};

struct Phase {
  const char* name;
  double PhaseSeconds::*seconds;
};

/// Only list of names, shared by run.json and the worker protocol.
inline constexpr std::array all_phases{Phase{"setup", &PhaseSeconds::setup},
                                       Phase{"input", &PhaseSeconds::input},
                                       Phase{"execution", &PhaseSeconds::execution},
                                       Phase{"reference", &PhaseSeconds::reference},
                                       Phase{"comparison", &PhaseSeconds::comparison},
                                       Phase{"sampling", &PhaseSeconds::sampling},
                                       Phase{"limits", &PhaseSeconds::limits},
                                       Phase{"output", &PhaseSeconds::output},
                                       Phase{"other", &PhaseSeconds::other}};

template <class R, class V>
void visit_fields(R& r, V&& visit) requires std::same_as<std::remove_const_t<R>, PhaseSeconds> {
  for (const Phase& phase : all_phases) visit(phase.name, r.*phase.seconds);
}

/// Splits time into phases. It is always in one phase or in none, so no time counts twice.
class PhaseClock {
 public:
  /// `now_s` is a steady clock.
  explicit PhaseClock(double (*now_s)() = steady_s) : now_s_(now_s) {}

  /// Counts the time from now on for `phase`.
  void enter(double PhaseSeconds::*phase);
  /// Stops counting.
  void pause();
  /// Counts a `share`, 0 to 1, of the time since the last call for `phase`. The clock stays in its
  /// current phase.
  void give(double PhaseSeconds::*phase, double share);
  /// Pauses. Returns the time counted since the last take().
  PhaseSeconds take();

 private:
  double lap_s();

  double (*now_s_)();
  PhaseSeconds seconds_;
  double PhaseSeconds::*phase_ = nullptr;
  double since_s_ = 0;
};

}  // namespace assay
