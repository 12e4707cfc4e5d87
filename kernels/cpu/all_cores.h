#pragma once

#include <sched.h>

namespace assay::cpu {

/// Processors that this process may use, even if OpenMP has tied the calling thread to one.
cpu_set_t usable_processors();

/// Gives the calling thread all cores of OpenMP's places, if there are any. With OMP_PROC_BIND set,
/// OpenMP ties a program's first thread to its first place when the program is loaded. Threads and
/// processes that it starts inherit that one core and would share it.
void use_all_cores();

}  // namespace assay::cpu
