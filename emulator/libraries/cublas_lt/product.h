#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/libraries/cublas_lt/algorithms.h"
#include "emulator/libraries/cublas_lt/rules.h"

namespace emulator::cublas_lt {

/// alpha or beta: a copy of the host's value, or where it lies in device memory.
struct Factor {
  double value = 0;
  std::uintptr_t address = 0;  // 0: `value` counts
};

/// A product as a stream keeps it until its turn.
struct Launch {
  Problem problem;
  Algorithm algorithm;
  Factor alpha, beta;
  std::uintptr_t a = 0, b = 0, c = 0, d = 0, bias = 0, workspace = 0;
  int gpu = 0;
};

/// Computes it. Throws Fault for memory that a kernel could not use so. `launches` numbers the
/// launches of this process: the fault of sums in another order depends on it.
void execute(const Launch& launch, std::uint64_t launches);

}  // namespace emulator::cublas_lt
