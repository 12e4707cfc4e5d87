#pragma once

#include <span>
#include <string_view>

#include "harness/records/record.h"

namespace assay {

/// A fault, a case on which it must show, and how; or, with the status `pass`, a device that is odd
/// and not wrong.
struct Pairing {
  std::string_view fault;
  std::string_view case_id;
  std::string_view reason;  // text that the row's reason must hold; of a pass reason or oracle
  Status status = Status::fail;
  std::string_view options = "--check-only";
  int devices = 1;
  bool is_cheat = false;   // the fault is a trick of a kernel of --kernels
  int runs = 1;            // of the same seed, of which the last one is judged
  bool is_own_op = false;  // the case is of an op of a user (session/selftest/own_op_tricks.h)
};

/// Faults of kernels/sim, and the tricks of kernels/providers/cheats/ on a simulated device.
std::span<const Pairing> fault_catalogue();

/// Faults of kernels/cuda, for a real GPU.
std::span<const Pairing> gpu_fault_catalogue();

}  // namespace assay
