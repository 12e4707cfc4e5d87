#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/records/record.h"
#include "kernels/sim/traits.h"
#include "session/selftest/fault_catalogue.h"

// Runs of this very program on devices with faults, for `assay selftest`.
namespace assay {

struct Injection {
  std::string_view fault;    // empty: the right device
  std::string_view without;  // a check that is switched off; empty: none
  int seed = 1;
  std::string device = sim::traits().kind;  // simulated devices, or a GPU
  std::string fault_variable = {};          // injects the fault; empty: --sim-fault does
  bool is_cheat = false;                    // the fault is a trick of kernels of --kernels
  int runs = 1;                             // one after the other, of which the last one counts
  bool is_own_op = false;                   // the case is one of own_ops_file()
};

/// Exit code and rows of a run.
struct Outcome {
  int exit_code = 0;  // 128 and the signal where one ended it
  std::string said;   // its last words on standard error
  std::vector<Record> rows;

  /// Returns the one row; null if there is none or more than one.
  const Record* row() const { return rows.size() == 1 ? rows.data() : nullptr; }
};

/// `selection` holds further arguments of `assay run`. `simulated` is the number of devices if they
/// are simulated ones.
Outcome run_injected(int simulated, const Injection& injection,
                     const std::vector<std::string>& selection);

/// Runs the pairing's case with another fault than its own, or none.
Outcome run_case(const Pairing& pairing, Injection injection);

}  // namespace assay
