#include "tests/kernel_counts/targets.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "kernels/core/status.h"

namespace assay::kernel_counts {

int capability_of(std::string_view ptx) {
  constexpr std::string_view directive = ".target sm_";
  const std::size_t at = ptx.find(directive);
  int capability = 0;
  if (at != std::string_view::npos)
    std::from_chars(ptx.data() + at + directive.size(), ptx.data() + ptx.size(), capability);
  if (capability == 0) throw std::runtime_error("PTX without a .target");
  return capability;
}

void check_runs(const emulator::GpuModel& gpu, std::string_view ptx) {
  const int capability = capability_of(ptx);
  if (10 * gpu.major + gpu.minor >= capability) return;
  throw UsageError(fmt::format(
      "{} does not run PTX for compute capability {}.{}, which this build has: leave it "
      "out of --gpus, or count with a build for an older one",
      gpu.name, capability / 10, capability % 10));
}

}  // namespace assay::kernel_counts
