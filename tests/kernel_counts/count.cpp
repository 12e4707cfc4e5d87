#include "tests/kernel_counts/count.h"

#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"

namespace assay::kernel_counts {

std::vector<emulator::KernelCounts> count(const Case& test, Backend& backend, Device& device) {
  Device* const lane[] = {&device};
  Trial trial(test.op, backend, lane);
  const int last_pass = static_cast<int>(passes(test.op).size()) - 1;
  trial.tensors().upload(generate_inputs(test.op, last_pass, 1, 1));
  arm_for_timing(trial);
  trial.synchronize();
  emulator::start_counts();
  trial.launch();
  trial.synchronize();
  return emulator::take_counts();
}

}  // namespace assay::kernel_counts
