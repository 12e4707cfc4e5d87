#pragma once

namespace emulator {

/// Mistakes that a library can be made to make. README.md beside this file says which row the
/// program must then show.
enum class LibraryFault {
  gelu_tanh,         // gelu by a tanh that is accurate to 2^-11 alone
  late_bias,         // bias added after the sum was rounded to 16 bits
  relu_drops_nan,    // relu(NaN) = 0
  some_drop_nan,     // relu(NaN) = 0 by algorithm 66 alone, as by some of cuBLASLt 13.1 on H100
  minmax_drops_nan,  // NCCL's min and max of NaN and a number are the number: also the default
  minmax_keeps_nan,  // they are NaN
  reordered_sums,    // sums in another order on each launch
  invalid_plans,     // CUBLAS_STATUS_INVALID_VALUE for every search of an algorithm
  hanging_rank,      // the last rank of each communicator never arrives
  async_error,      // a communicator tells of an error after each collective, whose result is right
  tf32_for_f32,     // products of FP32 by TF32
  wrong_algorithm,  // algorithm 66 misses the last two terms of sums
  missing_element,  // algorithm 66 leaves one element of each result as it was
  row_major_scales,  // scales of blocks read row by row, not in tiles
};

/// Whether the environment's ASSAY_EMULATOR_FAULT, a list of the names above with commas between
/// them, has this one. An unknown name ends the process: a typo would look like a program that
/// finds nothing.
bool has_fault(LibraryFault fault);

}  // namespace emulator
