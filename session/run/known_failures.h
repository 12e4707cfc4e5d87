#pragma once

#include <string>
#include <vector>

#include "harness/plan/expected_failures.h"
#include "session/run/job.h"

namespace assay {

/// Reads the list of known failures, and notes it in the run: every session must use the same list.
/// Throws UsageError.
ExpectedFailures read_expected(Job& job);

/// Reports patterns that match no case of any profile; those for cases left out are no mistake.
std::vector<std::string> patterns_without_case(const ExpectedFailures& expected, const Job& job);

}  // namespace assay
