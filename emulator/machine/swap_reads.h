#pragma once

#include <vector>

#include "emulator/ptx/module.h"

namespace emulator {

/// Tells of each instruction whether it is a weak read whose value a compare-and-swap of the same
/// place compares with, as in the loop by which the CUDA C++ Programming Guide makes atomic
/// operations that the hardware lacks. Such a read races with the swaps of other threads, and
/// cannot do harm: if it saw an old value the swap fails.
std::vector<bool> find_swap_reads(const ptx::Body& body);

}  // namespace emulator
