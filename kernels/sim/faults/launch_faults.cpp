#include <omp.h>

#include <cfenv>
#include <cstring>
#include <type_traits>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "kernels/sim/data_faults.h"

// Faults that strike only some launches.
namespace assay::sim {
namespace {

void flip_first_bit(Launch& launch) {
  if (launch.op().signature.outputs[0].elements() > 0) launch.output_bytes()[0] ^= std::byte{1};
}

/// Adds to the result of the previous launch.
void not_reset(Launch& launch) {
  launch.right();
  const std::vector<std::byte>& before = launch.history().output;
  if (before.size() != launch.copy_of_output().size()) return;
  visit_dtype(output_dtype(launch.op()), [&]<class T>(std::type_identity<T>) {
    const auto y = launch.output<T>();
    for (std::size_t i = 0; i < y.size(); ++i) {
      T old;
      std::memcpy(&old, &before[i * sizeof(T)], sizeof(T));
      if constexpr (std::is_class_v<T>) {
        y[i] = T(static_cast<float>(y[i]) + static_cast<float>(old));
      } else {
        y[i] = static_cast<T>(y[i] + old);
      }
    }
  });
}

/// Launches of a kernel before it is timed, at most: judged ones look like timed ones.
constexpr std::int64_t launches_before_timing = 24;

bool is_timed(Launch& launch) { return launch.history().launches >= launches_before_timing; }

void wrong_while_timed(Launch& launch) {
  launch.right();
  if (is_timed(launch)) flip_first_bit(launch);
}

void idle_while_timed(Launch& launch) {
  if (!is_timed(launch)) launch.right();
}

void every_other(Launch& launch) {
  launch.right();
  if (launch.history().launches % 2 == 1) flip_first_bit(launch);
}

void every_thousandth(Launch& launch) {
  launch.right();
  if (launch.history().launches % 1000 == 999) flip_first_bit(launch);
}

void leaves_other_threads(Launch& launch) {
  launch.right();
  omp_set_num_threads(omp_get_max_threads() + 1);
}

/// Sets the rounding of SSE only, like libraries, which leave the x87 alone.
void leaves_rounding_up(Launch& launch) {
  launch.right();
#if defined(__SSE2__)
  _MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
#else
  std::fesetround(FE_UPWARD);
#endif
}

/// Sets bits of the processor's control register that have no portable name.
void leaves_subnormals_flushed(Launch& launch) {
  launch.right();
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040U);  // flush to zero, denormals are zero
#endif
}

/// Computes a row that is alone in another order.
void one_row_differs(Launch& launch) {
  launch.right();
  const std::string rows(launch.op().op->independent_rows);
  if (!rows.empty() && launch.op().params.integer(rows) == 1) flip_first_bit(launch);
}

constexpr DataFault faults[] = {
    {"not_reset", "adds to what the launch before left", not_reset},
    {"wrong_while_timed", "wrong from the 25th launch on, when it is timed", wrong_while_timed},
    {"idle_while_timed", "does nothing from the 25th launch on, when it is timed",
     idle_while_timed},
    {"every_other", "wrong in every other launch", every_other},
    {"every_thousandth", "wrong in every 1000th launch", every_thousandth},
    {"one_row_differs", "a row has another bit when it is computed alone", one_row_differs},
    {"leaves_other_threads", "leaves another number of threads to all later launches",
     leaves_other_threads},
    {"leaves_rounding_up", "leaves sums rounded upward to all later launches", leaves_rounding_up},
    {"leaves_subnormals_flushed", "leaves subnormal numbers flushed to zero to all later launches",
     leaves_subnormals_flushed},
};

}  // namespace

std::span<const DataFault> launch_faults() { return faults; }

}  // namespace assay::sim
