#pragma once

#include <memory>

#include "emulator/machine/function_code.h"

namespace emulator {

/// Notes that the code keeps while it runs.
struct Observed {
  bool coverage = false, counts = false;
};

/// Turns an entry of a module and all that it calls into Code.
std::unique_ptr<KernelCode> compile_kernel(const ptx::Module& module, const ptx::Function& entry,
                                           Observed observed);

}  // namespace emulator
