#pragma once

#include <span>
#include <string_view>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// A mistake in what a launch computes, or in where it puts it. It strikes at every launch of the
/// ops that it concerns, in place of the right kernel.
struct DataFault {
  std::string_view name;
  std::string_view what;
  void (*strike)(Launch&);
  /// What the kernel then says of its sums. Arithmetic that is declared is no fault.
  MathMode (*declares)(const OpInstance&) = nullptr;
};

std::span<const DataFault> data_faults();
/// Null when there is none of that name.
const DataFault* find_data_fault(std::string_view name);

// One file each in faults/.
std::span<const DataFault> element_faults();
std::span<const DataFault> place_faults();
std::span<const DataFault> operand_faults();
std::span<const DataFault> arithmetic_faults();
std::span<const DataFault> matrix_unit_faults();
std::span<const DataFault> launch_faults();
std::span<const DataFault> collective_faults();

}  // namespace assay::sim
