#include "harness/execute/foreign_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "harness/execute/verify_launch.h"

namespace assay {
namespace {

constexpr std::byte overwritten{0x7e};

}  // namespace

void check_late_writes(Trial& trial, const Checks& checks) {
  if (!checks.on(Check::late_writes)) return;
  for (std::size_t i = 0; i < trial.op().signature.outputs.size(); ++i) {
    trial.launch_and_fill(overwritten, i);
    const input::GuardedTensor& output = trial.tensors().output(0, i);
    HostTensor expected(output.spec());
    std::ranges::fill(expected.bytes(), overwritten);
    if (const auto element = output.first_difference(expected)) {
      throw WrongResult{
          Check::late_writes, "",
          fmt::format("writes to its output after its stream has ended: seen at [{}]", *element)};
    }
  }
}

}  // namespace assay
