#include <string>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "suites/axes.h"
#include "tests/fuzz/fuzz.h"

// Takes each line as one --axis. The options are refused, or expand to cases whose ids read back.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  std::vector<const Suite*> suites;
  for (const Suite& suite : all_suites()) suites.push_back(&suite);
  try {
    std::vector<AxisOverride> overrides;
    for (const std::string& line : split(fuzzing::text_of(data, size), '\n')) {
      overrides.push_back(parse_axis(line));
    }
    const auto cases =
        expand(suites, Level::seeds, overrides, Growth{}, [](const std::string&) { return true; });
    if (cases.empty()) return 0;  // dtype=i32, which no op has
    for (const Case* test : {&cases.front(), &cases.back()}) {
      fuzzing::demand(parse_case_id(test->id()).id() == test->id(), "an id reads back");
    }
  } catch (const UsageError&) {
  }
  return 0;
}
