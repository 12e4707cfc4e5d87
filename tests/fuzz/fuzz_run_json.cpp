#include <string>

#include "kernels/core/status.h"
#include "reports/files/run_json.h"
#include "tests/fuzz/fuzz.h"

// A run.json is refused with a message of this program, or can be written and read again unchanged.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  RunInfo run;
  try {
    run = parse_run_json(fuzzing::text_of(data, size));
  } catch (const UsageError& refused) {
    fuzzing::demand(std::string_view(refused.what()).find("json.exception") == std::string::npos,
                    "an error is in words of this program");
    return 0;
  }
  const bool ended = !run.ended_at.empty();
  const std::string text = run_json(run, ended);
  fuzzing::demand(run_json(parse_run_json(text), ended) == text, "what was written reads back");
  return 0;
}
