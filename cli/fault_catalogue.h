#pragma once

#include <span>
#include <string_view>

#include "harness/record.h"

namespace assay::cli {

/// A fault, a case on which it must show, and how.
struct Pairing {
  std::string_view fault;  // of kernels/sim
  std::string_view case_id;
  std::string_view reason;  // text that the row's reason must hold
  Status status = Status::fail;
  std::string_view options = "--check-only";
  int devices = 1;
};

std::span<const Pairing> fault_catalogue();

}  // namespace assay::cli
