#pragma once

namespace assay::cpu {

/// With OMP_PROC_BIND in the environment OpenMP ties the first thread of a program to its first
/// place as the program is loaded; threads and processes that it starts inherit that one core and
/// would share it. Gives the calling thread all cores of OpenMP's places, where it has any.
void use_all_cores();

}  // namespace assay::cpu
