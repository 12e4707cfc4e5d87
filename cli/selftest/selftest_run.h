#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/selftest/fault_catalogue.h"
#include "harness/records/record.h"
#include "kernels/sim/traits.h"

// Runs of this very program on devices with faults, for `assay selftest`.
namespace assay::cli {

struct Injection {
  std::string_view fault;    // empty: the right device
  std::string_view without;  // a check that is switched off; empty: none
  int seed = 1;
  std::string device = sim::traits().kind;  // or a GPU
  std::string fault_variable = {};          // that injects the fault; empty: --sim-fault does
};

/// What a run came to.
struct Outcome {
  int exit_code = 0;  // 128 and the signal where one ended it
  std::vector<Record> rows;

  /// The one row; null when there is none or more than that.
  const Record* row() const { return rows.size() == 1 ? rows.data() : nullptr; }
};

/// `selection` holds further arguments of `assay run`; `simulated` is how many devices there are to
/// be if they are simulated ones.
Outcome run_injected(int simulated, const Injection& injection,
                     const std::vector<std::string>& selection);

Outcome run_case(const Pairing& pairing, const Injection& injection);

}  // namespace assay::cli
