#include <sstream>

#include "kernels/core/status.h"
#include "suites/case_file.h"
#include "tests/fuzz/fuzz.h"

// A case file is refused, or each of its cases has an id that reads back as the same case.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  std::istringstream text{std::string(fuzzing::text_of(data, size))};
  std::vector<Case> cases;
  try {
    cases = read_case_file(text, "cases.csv");
  } catch (const UsageError&) {
    return 0;
  }
  fuzzing::demand(!cases.empty(), "a case file that is taken has cases");
  for (const Case& test : cases) {
    fuzzing::demand(parse_case_id(test.id()).id() == test.id(), "an id reads back");
  }
  return 0;
}
