#pragma once

#include <span>
#include <string_view>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// A fault in a launch's results, or in where they are written. It replaces the right kernel at
/// every launch of the ops that it concerns.
struct DataFault {
  std::string_view name;
  std::string_view what;
  void (*strike)(Launch&);
  /// Precision that the kernel then declares for its sums. Declared arithmetic is no fault.
  MathMode (*declares)(const OpInstance&) = nullptr;
};

std::span<const DataFault> data_faults();
/// Returns null for an unknown name.
const DataFault* find_data_fault(std::string_view name);

// Faults by kind, one file each in faults/.
std::span<const DataFault> element_faults();
std::span<const DataFault> place_faults();
std::span<const DataFault> operand_faults();
std::span<const DataFault> arithmetic_faults();
std::span<const DataFault> number_faults();
std::span<const DataFault> matrix_unit_faults();
std::span<const DataFault> block_faults();
std::span<const DataFault> bf16x9_faults();
std::span<const DataFault> launch_faults();
std::span<const DataFault> collective_faults();

}  // namespace assay::sim
