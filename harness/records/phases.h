#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "kernels/core/clock.h"

namespace assay {

/// Seconds, by what they went into: of a trial in its worker, or of all trials of a run. Those of
/// lanes that work side by side add up to more than the time that passes on the wall.
struct PhaseSeconds {
  double setup = 0;       // opening devices, allocating, preparing the kernel, releasing all that
  double input = 0;       // drawing and uploading inputs, arming guards and poison
  double execution = 0;   // launches that are judged and not timed
  double reference = 0;   // what should come out, and waiting for another worker's reference
  double comparison = 0;  // downloading and judging outputs, guards, inputs, agreement of ranks
  double sampling = 0;    // warm-up and samples
  // Of the parent; 0 in what a worker says.
  double limits = 0;  // measuring what bounds the figures, before the first trial
  double output = 0;  // telling results to files and to the terminal
  double other = 0;   // what remains of the wall time: planning, workers that start, wait or die

  double total() const;
  PhaseSeconds& operator+=(const PhaseSeconds& more);
};

struct Phase {
  const char* name;
  double PhaseSeconds::*seconds;
};

/// The one list of names that run.json and the worker protocol share.
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

/// Tells time apart by phases: always in one of them or in none, so that nothing counts twice.
class PhaseClock {
 public:
  /// `now_s` is a steady clock.
  explicit PhaseClock(double (*now_s)() = steady_s) : now_s_(now_s) {}

  /// What follows counts for `phase`.
  void enter(double PhaseSeconds::*phase);
  /// What follows counts for nothing.
  void pause();
  /// Of the time since the last call a `share`, 0 to 1, went into `phase`; the clock goes on in the
  /// phase that it is in.
  void give(double PhaseSeconds::*phase, double share);
  /// Pauses. What was counted since the last take().
  PhaseSeconds take();

 private:
  double lap_s();

  double (*now_s_)();
  PhaseSeconds seconds_;
  double PhaseSeconds::*phase_ = nullptr;
  double since_s_ = 0;
};

}  // namespace assay
